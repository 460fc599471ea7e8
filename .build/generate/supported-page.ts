import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check } from '../../src/compare/conform/check.ts'
import type { AuthorizationTraits } from '../../src/model/domain/authorization-type.ts'
import { ERROR_CATALOGUE } from '../../src/model/domain/errors.ts'
import {
  LIFECYCLE_EVENTS,
  LIFECYCLE_STATES,
  type LifecycleState,
  type Move,
  MOVES,
} from '../../src/model/domain/lifecycle.ts'
import type { SeedBundle } from '../../src/model/domain/seed.ts'
import { pretty } from './pretty.ts'
import { operationsOf, readSpec, SPEC, type SpecOperation } from './spec-document.ts'
import type { Step } from './step.ts'

const PAGE = 'docs/supported.md'
const BASES = ['document', 'convention', 'choice'] as const

const SOURCES: Readonly<Record<AuthorizationTraits['source'], string>> = {
  consent: 'consent at the third party, in a browser or without one',
  form: "the form that a magic link opens, or your server's create and update",
  service: 'the service itself, before create answers',
  none: 'nowhere: it needs none',
}

const LIMITS = `| of requests and documents | at most | beyond it |
| --- | --- | --- |
| the body of a request of the service | 1 MiB | 413; \`--body-limit\` changes it |
| the body of a call of the control API | 64 MiB; 256 MiB for \`PUT /_mock/state\`, and for the answer of \`GET /_mock/state\` | 413; \`--body-limit\` changes the first |
| the body of a request of the proxy | 32 MiB; above 1 MiB it is not sent again after a 401, and rules do not see it whole | 413 |
| levels that a body nests | 100; 200 in the control API | 400 |
| keys and values of a file, or of a body of the control API | 100,000 and 250,000 | a file is refused; 400 or 413 |
| a seed, connector, scenario or extension file | 8,388,608 characters, 2,000,000 tokens of YAML, 100 levels | refused |
| a YAML body | 100,000 tokens | refused; send JSON |
| an OpenAPI document | 400 levels, 5,000,000 values | refused |
| a duration | 3,660 days; 10 minutes for a wait of a fault or of \`latency\` | refused |

| of connections | at most | beyond it |
| --- | --- | --- |
| the time of the head of a request, and of the whole request | 20 and 60 seconds | 408 |
| the time for which a client reads nothing of its answer | 30 seconds | the connection is closed |
| the time for requests under way when the server stops | 2 seconds | their connections are dropped |
| event streams of all clients | 500; 4 MiB unread on each | 503 \`TOO_MANY_STREAMS\`; the stream is closed |

| of third parties and webhooks | at most | beyond it |
| --- | --- | --- |
| the answer of a third party | 5 MiB | 500 \`TOOL_ERROR\` |
| the body of a call to a third party of the mock | 32 MiB | 413 of the third party |
| the time of a token endpoint | 10 seconds | the call fails, the account stays as it is |
| the time of an answer to the proxy | 30 seconds; of a tool: \`call.timeout\` | 504 |
| the time of a webhook | 10 seconds | the attempt has failed |
| deliveries that wait | 20,000, of which 16 at a webhook are under way | the oldest is given up |

| of what is kept | at most | beyond it |
| --- | --- | --- |
| the request journal of an environment | 10,000 entries and 64 MiB; 16 KiB of a body | the oldest are dropped, and no exact number is verified; \`--journal-size\` changes it |
| requests that \`GET /_mock/requests\` lists at once | 1,000 | \`since\` or \`limit\` brings others |
| findings of the contract report | 1,000 | further ones are counted |
| tokens, links and auth requests that have ended | 24 hours by the clock of the environment, and the last 1,000 in any case | dropped |
| bearer tokens | 50,000 | the ones closest to expiry are dropped and answer 401 |
| requests that wait at a replica that stands by | 1,000, with bodies of 64 MiB in all | 503 \`STORAGE_UNAVAILABLE\` |

A seed that is added, a reset, a restored snapshot and a replaced state are one change, for which other requests wait: a fifth of a second with 10,000 accounts. Limits of templates are in the [file reference](file-reference.md#templates), and of ended tokens and links in [State files](state.md#what-is-dropped-in-time).`

/** What of the service is served, how it is checked, and how to seed it and make it fail. */
export const supportedPage: Step = {
  name: 'supported page',
  inputs: [
    SPEC,
    'src/compare/conform/check.ts',
    'src/compare/conform/checks',
    'src/model/domain/lifecycle.ts',
    'src/model/domain/errors.ts',
    'src/model/domain/authorization-type.ts',
    'seeds',
    'seeds/connectors',
    'scenarios',
  ],
  outputs: [PAGE],
  make: async (root) => {
    const { CHECKS } = await import('../../src/compare/conform/checks/table.ts')
    const operations = operationsOf(await readSpec(root))
    const text = page(operations, CHECKS, await connectorsSection(), await scenariosTable(root))
    return new Map([[PAGE, await pretty(root, PAGE, text)]])
  },
}

function page(
  operations: readonly SpecOperation[],
  checks: readonly Check[],
  connectors: string,
  scenarios: string,
): string {
  const checksOf = (id: string | null) => checks.filter(({ operation }) => operation === id).length
  return `<!-- Made by \`npm run generate\` from the spec, the checks and the tables of the code: change them there. -->

# What is supported

Every operation, status, state and error of the service is served. ${checks.length} [conformance checks](conformance.md) hold an
implementation to it: ${operations.length} operations and the proxy have their own, and ${checksOf(null)} are about all operations.

## Operations

The status is in the column of its [basis](fidelity.md#basis). \`toolmock conform\` runs the checks. A [scenario](failures.md) with \`on: { operation: NAME }\` makes an operation fail.

| operation | method and path | \`document\` | \`convention\` | \`choice\` | checks |
| --- | --- | --- | --- | --- | --- |
${operations.map((operation) => `| \`${operation.id}\` | \`${operation.method.toUpperCase()} ${operation.path}\` | ${BASES.map((basis) => statusesOf(operation, basis)).join(' | ')} | ${checksOf(operation.id)} |`).join('\n')}
| \`proxy_request\` | \`any /proxy/{path}\` | | those of the third party | | ${checksOf('proxy_request')} |

## Protocols

| protocol | how to have it | guide |
| --- | --- | --- |
| HTTP and JSON | always | [Getting started](getting-started.md) |
| gRPC, gRPC-Web and Connect | always, on the same port | [gRPC](grpc.md) |
| MCP servers of connections and MCP configs | \`--mcp\` | [MCP](mcp.md) |
| webhooks | \`webhooks\` of a seed, or \`PUT /_mock/webhooks/{name}\` | [Webhooks](webhooks.md) |
| the pages of a magic link | always | [Consent](accounts.md#consent) |

## States of a connected account

A seed puts an account into a state with \`status\`. \`toolmock accounts EVENT ACCOUNT\` causes an event. A pair of state and event that the second table does not have leaves the state as it is. [Accounts and consent](accounts.md) explains them.

| state | how to seed it |
| --- | --- |
${LIFECYCLE_STATES.filter((state) => state !== 'none')
  .map((state) => `| \`${state}\` | \`{ connector: mail, identifier: ada@example.com, status: ${state} }\` |`)
  .join('\n')}

${movesTable()}

\`\`\`mermaid
${diagram()}
\`\`\`

## Errors

A [scenario](failures.md) answers with any of them: \`do: [{ respond: { status: 404, error_code: CODE } }]\`. [Errors](errors.md) says when the service answers so, with an example.

| error code | status | gRPC |
| --- | --- | --- |
${Object.entries(ERROR_CATALOGUE)
  .map(([code, { status, code: grpc }]) => `| [\`${code}\`](errors.md#${code.toLowerCase()}) | ${status} | ${grpc} |`)
  .join('\n')}

## Bundled connectors

The bundled seed has at least one connector for each authorization type. \`GET /api/v1/tools\` answers the input of each tool.

${connectors}

## Bundled scenarios

[Scenarios](scenarios.md) says how to start one, also for another tool or account. The first lines of each file in \`scenarios/\` say what a client sees.

${scenarios}

## Limits

${LIMITS}
`
}

function statusesOf({ statusBasis }: SpecOperation, basis: string): string {
  return [...statusBasis].flatMap(([status, from]) => (from.split(':')[0] === basis ? [status] : [])).join(', ')
}

/** Moves that an event makes from every state are one arrow. With an arrow for each move the diagram is unreadable. */
function diagram(): string {
  const arrows = new Map<string, Set<string>>()
  for (const { from, event, to } of MOVES) {
    const isFromAny =
      MOVES.filter((move) => move.event === event && move.to === to).length === LIFECYCLE_STATES.length - 1
    const arrow = `${isFromAny ? 'any' : from === 'none' ? '[*]' : from} --> ${to === 'none' ? 'gone' : to}`
    arrows.set(arrow, (arrows.get(arrow) ?? new Set()).add(event))
  }
  const lines = [...arrows].map(([arrow, events]) => `${arrow}: ${[...events].join(', ')}`)
  return ['stateDiagram-v2', 'state "any state" as any', 'state "(none)" as gone', ...lines].join('\n    ')
}

/** One row for each event and target, the states it moves from together. */
function movesTable(): string {
  const rows = new Map<string, Move[]>()
  for (const move of MOVES) {
    const key = `${move.event} ${move.to} ${move.basis}`
    rows.set(key, [...(rows.get(key) ?? []), move])
  }
  const lines = [...rows.values()].map((moves) => {
    const [{ event, to, basis }] = moves as [Move, ...Move[]]
    const from = moves.map((move) => stateCell(move.from))
    return `| ${from.length === LIFECYCLE_STATES.length - 1 ? 'any' : from.join(', ')} | ${event} | ${LIFECYCLE_EVENTS[event]} | ${stateCell(to)} | ${basis} |`
  })
  return ['| from | event | when | to | basis |', '| --- | --- | --- | --- | --- |', ...lines].join('\n')
}

function stateCell(state: LifecycleState): string {
  return state === 'none' ? '(none)' : `\`${state}\``
}

/** The bundled connectors with their tools, made from their files. */
async function connectorsSection(): Promise<string> {
  const { bundledSeed } = await import('../bundled-seed.ts')
  const { TRAITS } = await import('../../src/model/domain/authorization-type.ts')
  const { connectors } = JSON.parse(await bundledSeed()) as SeedBundle
  const rows = connectors.map(
    ({ authorization_type: type, connector }) => `| \`${type}\` | \`${connector}\` | ${SOURCES[TRAITS[type].source]} |`,
  )
  const tools = connectors.map(
    (each) => `- \`${each.connector}\`: ${each.tools.map(({ name }) => `\`${name}\``).join(', ')}`,
  )
  const table = ['| type | connector | credentials come from |', '| --- | --- | --- |', ...rows].join('\n')
  return `${table}\n\nTheir tools:\n\n${tools.join('\n')}`
}

async function scenariosTable(root: string): Promise<string> {
  const { parse } = await import('yaml')
  const files = (await readdir(join(root, 'scenarios'))).filter((file) => file.endsWith('.yaml')).sort()
  const rows = files.map(async (file) => {
    const { name, description } = parse(await readFile(join(root, 'scenarios', file), 'utf8')) as ScenarioFile
    return `| \`${name}\` | ${description} |`
  })
  return ['| scenario | what goes wrong |', '| --- | --- |', ...(await Promise.all(rows))].join('\n')
}

interface ScenarioFile {
  readonly name: string
  readonly description: string
}
