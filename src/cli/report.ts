import type { IncomingMessage } from 'node:http'
import { replaceFile } from '../disk/replace-file.ts'
import { isJsonObject } from '../domain/json.ts'
import { StartError } from '../domain/start-error.ts'
import { type Arguments, readArguments } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { systemCode } from './failure.ts'
import { REPORT_FLAGS } from './report-flags.ts'
import { serverAddress } from './server-address.ts'
import { UsageError } from './usage-error.ts'

type ReportValues = Arguments<typeof REPORT_FLAGS>['values']

const REPORTS = ['contract', 'coverage'] as const
const PATIENCE_MS = 30_000

/** Fetches a report of a running server; 1 when it is asked to fail for a broken contract. */
export async function report(argv: readonly string[], { variables, out, err }: Surroundings): Promise<number> {
  const { values, rest } = readArguments(REPORT_FLAGS, argv, variables)
  const judge = values.judge === undefined ? '' : `&judge=${values.judge}`
  const text = await fetched(values, `${reportNamed(rest, values)}?format=${values.format}${judge}`)
  const whole = values.format === 'json' ? `${JSON.stringify(read(text), null, 2)}\n` : recognized(text, values.format)
  if (values.output === undefined) out(whole.replace(/\n$/, ''))
  else {
    await write(values.output, whole)
    out(`wrote ${values.output}`)
  }
  if (!values.fail || (await isKept(values))) return 0
  err('toolmock: the contract was broken; the report says how')
  return 1
}

/** @throws UsageError */
function reportNamed([name = 'contract', ...more]: readonly string[], { format, judge }: ReportValues): string {
  const named = REPORTS.find((each) => each === name)
  if (named === undefined || more.length > 0) {
    throw new UsageError(`report takes one of ${REPORTS.join(', ')}; found ${[name, ...more].join(' ')}.`)
  }
  if (judge !== undefined && (named !== 'contract' || format !== 'json')) {
    throw new UsageError(`--judge ${judge} goes with the json of contract; found ${format} of ${named}.`)
  }
  // The other two formats are lists of what went wrong.
  if (named === 'contract' || format === 'json' || format === 'html') return named
  throw new UsageError(`coverage has the formats json and html; the ${format} of contract tells of it too.`)
}

async function isKept(values: ReportValues): Promise<boolean> {
  return read(await fetched(values, 'contract?format=json'))['ok'] === true
}

/** @throws StartError when something else answers at the address */
function read(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value) && 'schema_version' in value) return value
  } catch {
    // Said below.
  }
  throw new StartError(NO_REPORT)
}

const NO_REPORT = 'what is served there answers no report; is it a toolmock?'

/** What no other server answers. */
const MARKS = { junit: '<testsuites name="toolmock"', sarif: '"name": "toolmock"', html: ' · toolmock</title>' }

/** @throws StartError when something else answers at the address */
function recognized(text: string, format: keyof typeof MARKS): string {
  if (text.includes(MARKS[format])) return text
  throw new StartError(NO_REPORT)
}

async function write(file: string, text: string): Promise<void> {
  try {
    await replaceFile(file, text)
  } catch (error) {
    throw new StartError(`the report ${file} cannot be written (${systemCode(error) ?? String(error)})`)
  }
}

/** @throws StartError when the server does not answer with the report, with its own words where it has some */
async function fetched(values: ReportValues, what: string): Promise<string> {
  const { environment } = values
  const only = environment === undefined ? '' : `&environment=${encodeURIComponent(environment.toWellFormed())}`
  const address = `${serverAddress(values)}/_mock/${what}${only}`
  const { status, text } = await ask(address, values['admin-token'])
  if (status === 200) return text
  if (status === 401) throw new StartError(`${address} ${refusal(values['admin-token'])}`)
  throw new StartError(`${address} answers ${status}${wordsOf(text)}`)
}

function refusal(token: string | undefined): string {
  if (token !== undefined) return 'takes another admin token than the one of --admin-token or TOOLMOCK_ADMIN_TOKEN'
  return 'asks for the admin token: give it by --admin-token or TOOLMOCK_ADMIN_TOKEN'
}

function wordsOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } }
    return error?.message === undefined ? '; is it a toolmock?' : `: ${error.message}`
  } catch {
    return '; is it a toolmock?'
  }
}

async function ask(address: string, token: string | undefined): Promise<{ status: number; text: string }> {
  const { get } = address.startsWith('https:') ? await import('node:https') : await import('node:http')
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(new StartError(`${address} ${reasonOf(error)}`))
    const request = get(address, { agent: false, timeout: PATIENCE_MS, headers }, (response) => {
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), failed)
    })
    request.on('timeout', () => request.destroy(new Error(`does not answer within ${PATIENCE_MS} ms`)))
    request.on('error', failed)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** A token may go along, so that a server nobody vouches for is not asked. */
function reasonOf(error: unknown): string {
  const code = systemCode(error)
  if (code === 'ECONNREFUSED') return 'is not served'
  if (code === 'ECONNRESET') return 'ends the connection without an answer; does it serve HTTPS? Then say --tls'
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL') === true) return 'does not speak TLS; is it served over HTTP?'
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return `has a certificate of no known authority (${code}): NODE_EXTRA_CA_CERTS names the file of one more`
  }
  return error instanceof Error ? error.message : String(error)
}
