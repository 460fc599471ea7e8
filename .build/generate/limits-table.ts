import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const GUIDE = 'docs/limits.md'
const OPENAPI = 'src/documents/openapi/parse-document.ts'

type Unit = (value: number) => string

/** A limit that a user can reach: what is limited, the file of its constant, and the answer beyond it. */
interface Limit {
  readonly of: string
  readonly file: string
  readonly constant: string
  readonly unit: Unit
  readonly beyond: string
}

const GROUPS: readonly { readonly title: string; readonly limits: readonly Limit[] }[] = [
  {
    title: 'Connections',
    limits: [
      limit('TLS handshake; head of a request', 'src/http/server.ts', 'headersTimeout', time, 'closed; 408'),
      limit('a whole request', 'src/http/server.ts', 'requestTimeout', time, '408'),
      limit('a connection without a request', 'src/http/server.ts', 'keepAliveTimeout', time, 'closed'),
      limit('a client that reads nothing of its answer', 'src/http/server.ts', 'stallTimeout', time, 'closed'),
      limit(
        'requests under way when the server stops',
        'src/http/server.ts',
        'closeTimeout',
        time,
        'their connections are dropped',
      ),
      limit(
        'what one event stream leaves unread',
        'src/control/requests.ts',
        'MAX_UNREAD',
        bytes,
        'it is closed; the log says so',
      ),
      limit('event streams of all clients', 'src/app/app.ts', 'MAX_EVENT_STREAMS', count, '503 `TOO_MANY_STREAMS`'),
      limit(
        '`subscriptions/listen` streams of MCP',
        'src/mcp/listen-streams.ts',
        'MAX_LISTEN_STREAMS',
        count,
        'refused',
      ),
      limit('open streams of an HTTP/2 connection', 'src/rpc/one-port.ts', 'MAX_STREAMS', count, 'refused'),
    ],
  },
  {
    title: 'Requests and documents',
    limits: [
      limit('body of a request of the service', 'src/app/app.ts', 'MAX_BODY', bytes, '413; `--body-limit` changes it'),
      limit('levels that such a body nests', 'src/http/body.ts', 'MAX_DEPTH', count, '400'),
      limit('body of a request of the proxy', 'src/http/pipeline.ts', 'MAX_PROXY_BODY', bytes, '413'),
      limit(
        'body of the proxy that is sent again after a 401, and that rules see whole',
        'src/http/pipeline.ts',
        'MAX_REPEATED_BODY',
        bytes,
        'it streams; a 401 passes through',
      ),
      limit(
        'body of a call of the control API',
        'src/app/app.ts',
        'MAX_CONTROL_BODY',
        bytes,
        '413; `--body-limit` changes it',
      ),
      limit('levels that such a body nests', 'src/control/input.ts', 'MAX_DEPTH', count, '400'),
      limit(
        'a counter in a state, by `PUT /_mock/state`',
        'src/state/state-replacement.ts',
        'MAX_COUNTED',
        count,
        '400',
      ),
      limit('a state, by `GET` and `PUT /_mock/state`', 'src/app/app.ts', 'MAX_STATE', bytes, '413'),
      limit(
        'a seed, connector or scenario file',
        'src/documents/source-text.ts',
        'MAX_SOURCE_LENGTH',
        characters,
        'refused',
      ),
      limit('levels that such a file nests', 'src/documents/source-text.ts', 'MAX_DEPTH', count, 'refused'),
      limit(
        'tokens of a YAML body: keys, values, signs, comments, line ends',
        'src/documents/source-text.ts',
        'MAX_BODY_TOKENS',
        count,
        'refused; send JSON',
      ),
      limit('tokens of a YAML file', 'src/documents/source-text.ts', 'MAX_TOKENS', count, 'refused'),
      limit('keys of such a file or body', 'src/domain/json.ts', 'MAX_KEYS', count, 'refused; 400 or 413'),
      limit('values of such a file or body', 'src/domain/json.ts', 'MAX_VALUES', count, 'refused; 400 or 413'),
      limit('an OpenAPI document', OPENAPI, 'MAX_LENGTH', characters, 'refused'),
      limit('levels that an OpenAPI document nests', OPENAPI, 'MAX_DEPTH', count, 'refused'),
      limit('aliases of an OpenAPI document', OPENAPI, 'MAX_ALIASES', count, 'refused'),
      limit('values of an OpenAPI document, aliases written out', OPENAPI, 'MAX_VALUES', count, 'refused'),
      limit(
        'a value in the credentials form',
        'src/pages/credentials-page.ts',
        'MAX_VALUE',
        characters,
        'the form says so',
      ),
      limit('a duration', 'src/domain/instant.ts', 'MAX_DURATION', days, 'refused'),
    ],
  },
  {
    title: 'Third parties',
    limits: [
      limit(
        'body of a call to a third party of the mock',
        'src/third-party/http-messages.ts',
        'MAX_BODY',
        bytes,
        '413 of the third party',
      ),
      limit('answer of a third party', 'src/third-party/http-messages.ts', 'MAX_ANSWER', bytes, '500 `TOOL_ERROR`'),
      limit(
        'answer of a token endpoint',
        'src/third-party/client.ts',
        'TOKEN_TIMEOUT',
        time,
        'the call fails, the account stays as it is',
      ),
      limit(
        'answer to a request of the proxy',
        'src/third-party/client.ts',
        'FORWARD_TIMEOUT',
        time,
        '504; of a tool: `call.timeout`',
      ),
      limit('a wait of a fault or of `latency`', 'src/schema/parts.ts', 'MAX_WAIT', time, 'refused'),
      limit('`within` of `hold_until`', 'src/scenarios/faults/hold-until.ts', 'MAX_WITHIN', time, 'refused'),
      limit('`requests` of `hold_until`', 'src/scenarios/faults/hold-until.ts', 'MAX_REQUESTS', count, 'refused'),
    ],
  },
  {
    title: 'What is kept of each environment',
    limits: [
      limit(
        'entries of the request journal',
        'src/app/app.ts',
        'JOURNAL_CAPACITY',
        count,
        'the oldest are dropped, and no exact number is verified; `--journal-size` changes it',
      ),
      limit('their size', 'src/app/app.ts', 'JOURNAL_BYTES', bytes, 'the oldest are dropped'),
      limit('of a body in the request journal', 'src/request-journal/entry.ts', 'KEPT', bytes, 'the rest is left out'),
      limit(
        'requests that `GET /_mock/requests` lists at once',
        'src/request-journal/query.ts',
        'DEFAULT_LIMIT',
        count,
        '`since` or `limit` brings others',
      ),
      limit(
        'findings of the contract report',
        'src/verdict/findings.ts',
        'MAX_FINDINGS',
        count,
        'further ones are counted',
      ),
      limit('requests that a finding names', 'src/verdict/findings.ts', 'MAX_REQUESTS', count, 'the first ones stay'),
    ],
  },
  {
    title: 'Webhooks',
    limits: [
      limit('the answer of a webhook', 'src/app/app.ts', 'WEBHOOK_TIMEOUT', time, 'the attempt has failed'),
      limit('attempts under way at a webhook', 'src/webhooks/deliveries.ts', 'MAX_SENDING', count, 'others wait'),
      limit('deliveries that wait', 'src/webhooks/webhooks.ts', 'MAX_WAITING', count, 'the oldest is given up'),
      limit('of an answer', 'src/webhooks/attempt.ts', 'MAX_ANSWER', bytes, 'the rest is not read'),
    ],
  },
  {
    title: 'A replica that stands by',
    limits: [
      limit(
        'requests that wait for an active replica',
        'src/replicas/replica.ts',
        'MAX_WAITING',
        count,
        '503 `STORAGE_UNAVAILABLE`',
      ),
      limit(
        'bodies that it keeps until they are answered, because they may have to be sent again',
        'src/replicas/replica.ts',
        'MAX_KEPT_BYTES',
        bytes,
        '503 `STORAGE_UNAVAILABLE`',
      ),
      limit('body that is sent again', 'src/replicas/replica.ts', 'MAX_KEPT_BODY', bytes, 'sent once'),
    ],
  },
  {
    title: 'Rows that have ended',
    limits: [
      limit(
        'time that each is kept, by the clock of the environment',
        'src/state/model/deadlines.ts',
        'KEPT_MS',
        time,
        'dropped, except for the last ones',
      ),
      limit('last ones of all kinds, kept longer', 'src/state/model/deadlines.ts', 'KEPT_ROWS', count, 'dropped'),
      limit(
        'auth requests that are over, and revoked credentials',
        'src/state/model/deadlines.ts',
        'KEPT_NEVER_VALID_AGAIN',
        count,
        'dropped at once',
      ),
      limit(
        'bearer tokens, ended or not',
        'src/state/model/deadlines.ts',
        'MAX_KEPT',
        count,
        'the ones closest to expiry are dropped and answer 401',
      ),
      limit('rows of all kinds', 'src/state/model/deadlines.ts', 'MAX_KEPT', count, 'dropped at once'),
    ],
  },
]

/** The limits that a user can reach, from the constants that the code reads. */
export const limitsTable: Step = {
  name: 'limits table',
  inputs: [...new Set(GROUPS.flatMap(({ limits }) => limits.map(({ file }) => file)))],
  outputs: [GUIDE],
  make: async (root) => {
    const tables = GROUPS.map(async ({ title, limits }) => {
      const rows = limits.map(async (each) => {
        const value = constantIn(await readFile(join(root, each.file), 'utf8'), each)
        return `| ${each.of} | ${each.unit(value)} | ${each.beyond} |`
      })
      return [`| ${title} | at most | beyond it |`, '| --- | --- | --- |', ...(await Promise.all(rows))].join('\n')
    })
    return markedSection(root, GUIDE, 'limits', (await Promise.all(tables)).join('\n\n'))
  },
}

function limit(of: string, file: string, constant: string, unit: Unit, beyond: string): Limit {
  return { of, file, constant, unit, beyond }
}

/** The number behind `const NAME = ` or, in an object, `name: `; products such as `64 * 1024` are computed. */
function constantIn(text: string, { file, constant }: Limit): number {
  const found = new RegExp(`^(?:export const |const |  )${constant}(?: =|:) ([\\d_* ]+),?$`, 'm').exec(text)?.[1]
  if (found === undefined) throw new Error(`${file} has no number ${constant}`)
  return found.split('*').reduce((product, factor) => product * Number(factor.trim().replaceAll('_', '')), 1)
}

function time(milliseconds: number): string {
  if (milliseconds % 3_600_000 === 0) return `${milliseconds / 3_600_000}h`
  return milliseconds % 60_000 === 0 && milliseconds > 60_000 ? `${milliseconds / 60_000}m` : `${milliseconds / 1000}s`
}

function bytes(size: number): string {
  return size < 1024 * 1024 ? `${size / 1024} KiB` : `${size / 1024 / 1024} MiB`
}

function characters(length: number): string {
  return `${count(length)} characters`
}

function days(milliseconds: number): string {
  return `${count(milliseconds / 86_400_000)} days`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
