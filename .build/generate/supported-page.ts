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
  ],
  outputs: [PAGE],
  make: async (root) => {
    const { CHECKS } = await import('../../src/compare/conform/checks/table.ts')
    return new Map([
      [PAGE, await pretty(root, PAGE, page(operationsOf(await readSpec(root)), CHECKS, await connectorsSection()))],
    ])
  },
}

function page(operations: readonly SpecOperation[], checks: readonly Check[], connectors: string): string {
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

A seed puts an account into a state with \`status\`. \`toolmock accounts EVENT ACCOUNT\` causes an event. A pair of state and event that the second table does not have leaves the state as it is. [Accounts and consent](accounts.md#lifecycle) shows the moves as a diagram.

| state | how to seed it |
| --- | --- |
${LIFECYCLE_STATES.filter((state) => state !== 'none')
  .map((state) => `| \`${state}\` | \`{ connector: mail, identifier: ada@example.com, status: ${state} }\` |`)
  .join('\n')}

${movesTable()}

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

## Limits

[Limits](limits.md) lists each limit, and what happens beyond it.
`
}

function statusesOf({ statusBasis }: SpecOperation, basis: string): string {
  return [...statusBasis].flatMap(([status, from]) => (from.split(':')[0] === basis ? [status] : [])).join(', ')
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
