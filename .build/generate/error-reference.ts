import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pretty } from './pretty.ts'
import { operationsOf, readSpec, SPEC, type SpecOperation } from './spec-document.ts'
import type { Step } from './step.ts'

const PAGE = 'docs/errors.md'
const RECORDED = '.build/generate/recorded/errors.json'

/** A request that was refused, as `test/spec/error-examples.test.ts` has recorded it. */
interface Refusal {
  readonly request: {
    readonly method: string
    readonly path: string
    readonly query: Readonly<Record<string, string>>
    readonly headers: readonly string[]
    readonly body: unknown
    readonly operation: string | null
  }
  readonly status: number
  readonly answer: { readonly error?: string; readonly details?: readonly { readonly error_code: string }[] }
  readonly because: string
  readonly facts: readonly string[]
  readonly advice: readonly string[]
}

/** Every error, from the catalogue and the table of explanations, with the requests that the tests have recorded. */
export const errorReference: Step = {
  name: 'error reference',
  inputs: [SPEC, RECORDED, 'src/model/domain', 'src/journal/request-journal', 'src/servers/magic-links'],
  outputs: [PAGE],
  make: async (root) => new Map([[PAGE, await pretty(root, PAGE, await page(root))]]),
}

const GRPC: Readonly<Record<number, string>> = {
  2: 'UNKNOWN',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
}

async function page(root: string): Promise<string> {
  const { grpcCodeOf: codeOf, ERROR_CATALOGUE, TOKEN_ERRORS } = await import('../../src/model/domain/errors.ts')
  const { PROBLEMS } = await import('../../src/servers/magic-links/link-validity.ts')
  const { REMEDIES: known } = await import('../../src/journal/request-journal/remedies.ts')
  const operations = operationsOf(await readSpec(root))
  const refusals = Object.values(
    JSON.parse(await readFile(join(root, RECORDED), 'utf8')) as Readonly<Record<string, Refusal>>,
  )
  const catalogue = Object.entries<{ status: number; field?: string }>(ERROR_CATALOGUE)
  const statusOf = (code: string, usual: number): string => statusesOf(operations, code, usual).join(', ')
  const grpcOf = (code: string, usual: number, numbered: boolean): string =>
    [...new Set(statusesOf(operations, code, usual).map((status) => codeOf(code, Number(status))))]
      .map((number) => `\`${GRPC[number] ?? ''}\`${numbered ? ` (${number})` : ''}`)
      .join(', ')
  const remedyOf = (code: string) => known.get(code) ?? { because: '', basis: '', advice: [] }
  const section = (code: string, facts: readonly string[]): string => {
    const { because, advice } = remedyOf(code)
    const [refusal] = refusals.filter(({ answer }) => (answer.error ?? answer.details?.[0]?.error_code) === code)
    return [
      `## ${code}`,
      `${because}${because.endsWith('.') ? '' : '.'}`,
      [...facts, `Operations: ${operationsWith(operations, code)}`].map((fact) => `- ${fact}`).join('\n'),
      `**What to do.** ${advice.join(' ')}`,
      ...(refusal ? [exampleOf(refusal)] : []),
    ].join('\n\n')
  }
  const links = [...known.keys()].filter((code) => code.startsWith('LINK_'))
  const pageStatus = (code: string): string =>
    String(PROBLEMS[code.slice('LINK_'.length).toLowerCase() as keyof typeof PROBLEMS].status)
  return `<!-- Made by \`npm run generate\` from src/model/domain/errors.ts, src/journal/request-journal/explain.ts and spec/openapi.yaml: change it there. -->

# Errors

This page lists every error that the service can answer, with its causes and what to do. For one request, \`npx toolmock explain REQUEST_ID\` says which of the causes it was; the id is the \`X-Request-Id\` of the answer.

An error has an HTTP status and a JSON body. \`code\` is the number of the gRPC status, and \`error_code\` is the stable name to test for; the message is for people and may change. \`details\` has what is wrong field by field, the resource, or what the third party answered.

A scenario makes any operation answer an error that it declares: \`do: [{ respond: { status: 400, error_code: ACCOUNT_NOT_ACTIVE } }]\` in a [rule](scenarios.md#a-rule). The page of each [operation](api/README.md) has one that is ready to use.

| error | status | gRPC | meaning |
| --- | --- | --- | --- |
${catalogue.map(([code, { status }]) => row(link(code), statusOf(code, status), grpcOf(code, status, false), remedyOf(code).because)).join('\n')}
${TOKEN_ERRORS.map((code) => row(link(code), code === 'invalid_client' ? '401' : '400', '', remedyOf(code).because)).join('\n')}

${catalogue
  .map(([code, { status, field }]) =>
    section(code, [
      `Status: ${statusOf(code, status)}`,
      `gRPC: ${grpcOf(code, status, true)}`,
      ...(field === undefined ? [] : [`Field: \`${field}\`, or the one that the answer names`]),
    ]),
  )
  .join('\n\n')}

${TOKEN_ERRORS.map((code) => section(code, [`Status: ${code === 'invalid_client' ? '401' : '400'}`])).join('\n\n')}

## Pages of magic links

A link that cannot be used answers a page for the user. The request journal has these names; no answer of the API does.

| name | status | meaning | what to do |
| --- | --- | --- | --- |
${links.map((code) => row(`\`${code}\``, pageStatus(code), remedyOf(code).because, remedyOf(code).advice.join(' '))).join('\n')}
`
}

function statusesOf(operations: readonly SpecOperation[], code: string, usual: number): string[] {
  const found = operations.flatMap(({ codes }) =>
    [...codes].flatMap(([status, each]) => (each.includes(code) ? status : [])),
  )
  return [...new Set([...found, String(usual)])].sort()
}

function operationsWith(operations: readonly SpecOperation[], code: string): string {
  const found = operations.filter(({ codes }) => [...codes.values()].some((each) => each.includes(code)))
  if (found.length === 0) return 'any'
  if (found.length >= operations.length - 1)
    return found.length === operations.length ? 'all' : 'all but `create_token`'
  return found.map(({ id }) => `[\`${id}\`](api/${id}.md)`).join(', ')
}

function exampleOf({ request, status, answer, because, facts, advice }: Refusal): string {
  const query = new URLSearchParams(request.query).toString()
  const body =
    request.body === null
      ? ''
      : `\n\n${typeof request.body === 'string' ? request.body : JSON.stringify(request.body, null, 2)}`
  return `**For example**, this request is answered with ${status}:

\`\`\`http
${[`${request.method} ${request.path}${query && `?${query}`}`, ...request.headers].join('\n')}${body}
\`\`\`

\`\`\`json
${JSON.stringify(answer)}
\`\`\`

\`explain\` says:

\`\`\`text
${[because, ...facts.map((fact) => `- ${fact}`), ...advice.map((line) => `→ ${line}`)].join('\n')}
\`\`\``
}

function link(code: string): string {
  return `[\`${code}\`](#${code.toLowerCase()})`
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
