import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EXAMPLES, REDIRECT } from './api/examples.ts'
import { LANGUAGES } from './api/languages.ts'
import { failingScenario } from './api/scenarios.ts'
import type { Remedy } from '../../src/journal/request-journal/remedies.ts'
import { pretty } from './pretty.ts'
import { fidelityRows, type Row } from './rules.ts'
import {
  follow,
  operationsOf,
  readSpec,
  type Schema,
  SPEC,
  type SpecDocument,
  type SpecOperation,
} from './spec-document.ts'
import type { Step } from './step.ts'

const FOLDER = 'docs/api'
const FIDELITY = 'docs/fidelity.md'
const RECORDED = '.build/generate/recorded/api.json'

/** A page for each operation of the service, with the answers that `test/spec/api-examples.test.ts` has recorded. */
export const apiReference: Step = {
  name: 'API reference',
  inputs: [
    SPEC,
    RECORDED,
    FIDELITY,
    '.build/generate/api',
    'scenarios',
    'src/journal/request-journal/explain.ts',
    'src/journal/request-journal/explanations',
  ],
  outputs: [FOLDER],
  make: async (root) => {
    const spec = await readSpec(root)
    const operations = operationsOf(spec)
    const material: Material = {
      spec,
      operations,
      answers: JSON.parse(await readFile(join(root, RECORDED), 'utf8')) as Material['answers'],
      rules: fidelityRows(await readFile(join(root, FIDELITY), 'utf8')),
      remedies: (await import('../../src/journal/request-journal/remedies.ts')).REMEDIES,
      scenarios: await bundledScenarios(root),
    }
    const pages = operations.map((operation) => [`${FOLDER}/${operation.id}.md`, page(operation, material)] as const)
    const all = [...pages, [`${FOLDER}/README.md`, index(material)] as const]
    return new Map(await Promise.all(all.map(async ([path, text]) => [path, await pretty(root, path, text)] as const)))
  },
}

interface Material {
  readonly spec: SpecDocument
  readonly operations: readonly SpecOperation[]
  readonly answers: Readonly<Record<string, { readonly status: number; readonly body: unknown }>>
  readonly rules: readonly Row[]
  readonly remedies: ReadonlyMap<string, Remedy>
  readonly scenarios: readonly {
    readonly name: string
    readonly description: string
    readonly operations: readonly string[]
  }[]
}

const NOTE = '<!-- Made by `npm run generate` from spec/openapi.yaml: change it there. -->'

function index({ operations, rules }: Material): string {
  const tags = [...new Set(operations.flatMap(({ tags: [tag = ''] }) => tag))]
  return `${NOTE}

# API

Each operation of the service has a page: what it takes, an example in curl, TypeScript and Python with its answer, every status and error, the rules behind it, and a scenario that makes it fail. Clients generated from protobuf call the same operations by [gRPC](../grpc.md).

${tags
  .map(
    (tag) => `## ${tag}

| operation | method and path | does |
| --- | --- | --- |
${operations
  .filter(({ tags: [first] }) => first === tag)
  .map(
    ({ id, method, path, summary }) => `| [\`${id}\`](${id}.md) | \`${method.toUpperCase()} ${path}\` | ${summary} |`,
  )
  .join('\n')}`,
  )
  .join('\n\n')}

## What the examples need

They read \`TOOLMOCK_URL\` and \`TOKEN\` from the environment. \`npx toolmock env\` prints the address and the credentials of a running mock, and [\`create_token\`](create_token.md) answers a token:

\`\`\`sh
eval "$(npx toolmock env)"
export TOKEN=$(curl -sS "$TOOLMOCK_URL/oauth/token" -d grant_type=client_credentials \\
  -d "client_id=$TOOLMOCK_CLIENT_ID" -d "client_secret=$TOOLMOCK_CLIENT_SECRET" | sed -E 's/.*"access_token":"([^"]*)".*/\\1/')
\`\`\`

The tests of the mock send each example in each language. The answers that the pages show are those of \`toolmock start --id-seed 1 --clock 2026-01-01T00:00:00Z --freeze --mcp\`. In a long list, the pages show the first entries.

## What any operation answers

Besides its own errors: 404 [\`PATH_NOT_FOUND\`](../errors.md#path_not_found), 405 [\`METHOD_NOT_ALLOWED\`](../errors.md#method_not_allowed) and 503 [\`STORAGE_UNAVAILABLE\`](../errors.md#storage_unavailable). Checks come in this order: 401, 400, 404, then 403, 409 or a 400 about the state.

## Rules of every operation

${ruleLines(generalRules(operations), rules).join('\n')}
`
}

function page(operation: SpecOperation, material: Material): string {
  const { id, method, path, summary, description, tags } = operation
  const needs = tags.includes('MCP')
    ? ' It is served with `--mcp`.'
    : tags.includes('Discovery')
      ? ' It is not served with `--documented-only`.'
      : ''
  return `${NOTE}

# ${summary}

\`${method.toUpperCase()} ${path}\`, operation \`${id}\`.${needs}

${linked(description)}

## Request

${parametersOf(operation)}

${bodyOf(operation, material.spec)}

## Example

${exampleOf(operation, material)}

## Answers

${answersOf(operation, material)}

## Rules

${rulesOf(operation, material)}

## Make it fail

${failureOf(operation, material)}
`
}

function parametersOf({ parameters, bearer }: SpecOperation): string {
  const token = bearer ? 'It needs a bearer token: `Authorization: Bearer TOKEN`.' : 'It needs no bearer token.'
  if (parameters.length === 0) return token
  const rows = parameters.map(
    ({ name, in: place, required, schema, description = '' }) =>
      `| \`${name}\` | ${place}${required === true ? ', required' : ''} | ${cell(typeOf(schema))} | ${cell(description)} |`,
  )
  return [token, '', '| parameter | in | type | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function bodyOf({ body }: SpecOperation, spec: SpecDocument): string {
  if (!body) return ''
  const rows = fieldsOf(spec, body.schema, '').map(
    ({ name, required, schema }) =>
      `| \`${name}\` | ${cell(typeOf(schema))}${required ? ', required' : ''} | ${cell(meaningOf(name, schema))} |`,
  )
  return [`The body is \`${body.mediaType}\`:`, '', '| field | type | meaning |', '| --- | --- | --- |', ...rows].join(
    '\n',
  )
}

/** What the fields of a locator mean, which have no description of their own. */
const COMMON: Readonly<Record<string, string>> = {
  tool_name: 'The tool to run.',
  connected_account_id: 'The account, by its id.',
  id: 'The account, by its id.',
  organization_id: 'The organization that the account belongs to.',
  user_id: 'The user that the account belongs to.',
  connector: 'The connector of the account.',
  identifier: 'The account in the third-party service, such as an e-mail address.',
}

function meaningOf(name: string, schema: Schema): string {
  const description = schema['description']
  return typeof description === 'string' ? description : (COMMON[name] ?? '')
}

interface Field {
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
}

/** The fields that a client can set, those of inner objects with their path. */
function fieldsOf(spec: SpecDocument, schema: Schema, prefix: string): Field[] {
  const { properties = {}, required = [] } = follow<Schema>(spec, schema)
  return Object.entries(properties).flatMap(([key, own]): Field[] => {
    const target = follow<Schema>(spec, own)
    // A description beside a reference is about this place.
    const described = { ...target, ...(own['description'] === undefined ? {} : { description: own['description'] }) }
    if (target['x-output-only'] === true) return []
    const inner = target.items ? follow<Schema>(spec, target.items) : target
    const name = `${prefix}${key}`
    const within = inner.properties ? fieldsOf(spec, inner, `${name}${target.items ? '[]' : ''}.`) : []
    return [{ name, required: required.includes(key), schema: described }, ...within]
  })
}

function typeOf(schema: Schema): string {
  const { type, format, items } = schema
  const values = (schema['enum'] as unknown[] | undefined)?.map((value) => `\`${String(value)}\``)
  if (values) return values.join(', ')
  if (items) return `list of ${items.$ref ? 'objects' : `${typeOf(items)}s`}`
  const kind = [type ?? 'string']
    .flat()
    .filter((each) => each !== 'null')
    .join(' or ')
  const bounds = [
    ['at least', schema['minimum']],
    ['at most', schema['maximum']],
  ].flatMap(([word, bound]) =>
    typeof bound === 'number' && Math.abs(bound) < 2 ** 31 - 1 ? `${String(word)} ${bound}` : [],
  )
  const length =
    typeof schema['minLength'] === 'number' && schema['minLength'] > 1
      ? [`at least ${schema['minLength']} characters`]
      : []
  return [format === 'date-time' ? 'date-time' : kind, ...bounds, ...length].join(', ')
}

function exampleOf(operation: SpecOperation, { operations, answers }: Material): string {
  const example = EXAMPLES[operation.id] ?? {}
  const answer = answers[operation.id]
  const before = (example.before ?? []).map((step) => {
    const found = operations.find(({ id }) => id === step)
    return found
      ? `[${found.summary}](${step}.md#example)`
      : `the user follows the link and approves, which gives \`${REDIRECT}\``
  })
  const gives = (example.before ?? []).flatMap((step) => EXAMPLES[step]?.gives ?? [])
  const variables = gives.map(({ variable, at }) => `\`${variable}\` is \`${at.join('.')}\` of its answer.`)
  const blocks = Object.entries(LANGUAGES).map(
    ([language, { block, write }]) => `**${language}**\n\n\`\`\`${block}\n${write(operation, example)}\n\`\`\``,
  )
  const shown = (answer?.body ?? null) === null ? [] : ['', '```json', JSON.stringify(shortened(answer?.body)), '```']
  return [
    'The variables of the address and the token are those of [what the examples need](README.md#what-the-examples-need).',
    ...(before.length > 0 ? ['', `Before it: ${before.join('; ')}. ${variables.join(' ')}`] : []),
    '',
    blocks.join('\n\n'),
    '',
    `The answer is ${answer?.status ?? 200}${shown.length > 0 ? ':' : ', without a body.'}`,
    ...shown,
  ].join('\n')
}

const SHOWN = 2

/** The value with the first entries of long lists. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) {
    const more = value.length > SHOWN + 1 ? [`… ${value.length - SHOWN} more`] : []
    return [...value.slice(0, more.length > 0 ? SHOWN : undefined).map(shortened), ...more]
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each)]))
}

function answersOf({ codes, statusText }: SpecOperation, { remedies: known }: Material): string {
  return [...statusText]
    .map(([status, text]) => {
      const errors = (codes.get(status) ?? []).map(
        (code) => `  - [\`${code}\`](../errors.md#${code.toLowerCase()}): ${known.get(code)?.advice.join(' ') ?? ''}`,
      )
      return [`- **${status}**: ${linked(text)}`, ...errors].join('\n')
    })
    .join('\n')
}

/** Rules that most operations cite: the index has them. */
function generalRules(operations: readonly SpecOperation[]): string[] {
  const cited = operations.flatMap((operation) => [...new Set(citedBy(operation).flatMap(gapOf))])
  return [...new Set(cited)].filter((id) => cited.filter((each) => each === id).length > operations.length / 2)
}

function citedBy({ basis, statusBasis, parameters }: SpecOperation): string[] {
  return [...basis, ...statusBasis.values(), ...parameters.flatMap((each) => each['x-basis'] ?? [])]
}

function gapOf(basis: string): string[] {
  return /G\d+/.exec(basis)?.slice(0, 1) ?? []
}

/** An item for each gap, which links to its row, with an item for each of its points. */
function ruleLines(ids: readonly string[], rules: readonly Row[]): string[] {
  return ids.flatMap((id) => {
    const points = rules
      .filter((row) => row.ids[0] === id)
      .map(({ point, rule }) => `${linked(point)}: ${linked(rule)}`)
    const link = `- [${id}](../fidelity.md#${id.toLowerCase()})`
    return points.length > 1
      ? [`${link}:`, ...points.map((each) => `  - ${each}`)]
      : points.map((each) => `${link}, ${each}`)
  })
}

/** The document's parts as one line, then each rule of docs/fidelity.md that the operation cites. */
function rulesOf(operation: SpecOperation, { rules, operations }: Material): string {
  const cited = citedBy(operation)
  const parts = [...new Set(cited.flatMap((each) => /^document:(.*)$/.exec(each)?.[1] ?? []))]
  const general = generalRules(operations)
  const own = [...new Set(cited.flatMap(gapOf))].filter((id) => !general.includes(id))
  const lines = ruleLines(own, rules)
  const first =
    parts.length > 0
      ? `The service's document describes it in part ${parts.join(', ')}.`
      : "The service's document does not describe it; clients of such a service expect it."
  const more = lines.length > 0 ? ' Where the document is silent, these rules hold:' : ''
  return [
    `${first}${more}`,
    '',
    ...lines,
    '',
    'The [rules of every operation](README.md#rules-of-every-operation) hold too.',
  ].join('\n')
}

function failureOf(operation: SpecOperation, { scenarios }: Material): string {
  const { yaml, status, code } = failingScenario(operation)
  const bundled = scenarios.filter(({ operations }) => operations.includes(operation.id))
  const more = bundled.map(({ name, description }) => `- \`${name}\`: ${description}`)
  return [
    `With this file, the first call answers ${status} [\`${code}\`](../errors.md#${code.toLowerCase()}): \`npx toolmock start --scenario FILE\`.`,
    '',
    `\`\`\`yaml\n${yaml}\`\`\``,
    ...(more.length > 0 ? ['', 'Bundled scenarios, by name (`--scenario NAME`):', '', ...more] : []),
  ].join('\n')
}

/** Operations that a rule at another place than the service is about. */
const PLACES: Readonly<Record<string, string>> = {
  third_party: 'execute_tool',
  token_refresh: 'execute_tool',
  consent: 'create_magic_link',
}

async function bundledScenarios(root: string): Promise<Material['scenarios']> {
  const { parse } = await import('yaml')
  const files = (await readdir(join(root, 'scenarios'))).filter((file) => file.endsWith('.yaml')).sort()
  return Promise.all(
    files.map(async (file) => {
      const { name, description, rules } = parse(await readFile(join(root, 'scenarios', file), 'utf8')) as {
        name: string
        description: string
        rules: { at: string; on?: { operation?: string } }[]
      }
      const operations = rules.flatMap(({ at, on }) => on?.operation ?? PLACES[at] ?? [])
      return { name, description, operations }
    }),
  )
}

/** Text of the spec, with its rules as links. */
function linked(text: string): string {
  return text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\bG(\d+)\b/g, '[G$1](../fidelity.md#g$1)')
    .replaceAll(/`docs\/(\w+)\.md`/g, '[$1](../$1.md)')
}

/** Text of the spec in a table, without the rules that it cites. */
function cell(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line
    .replaceAll(/ \(G\d+(, G\d+)*\)/g, '')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
}
