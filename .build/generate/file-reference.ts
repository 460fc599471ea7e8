import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { schemaDocuments } from './json-schemas.ts'
import { pretty } from './pretty.ts'
import type { Step } from './step.ts'

const PAGE = 'docs/file-reference.md'
export const EXAMPLES = '.build/generate/examples'

/** The files that together have every key of their kind; `test/files/file-reference.test.ts` validates them. */
export const EXAMPLE_FILES = {
  connector: ['connectors/shop.yaml', 'connectors/vault.yaml', 'connectors/warehouse.yaml', 'connectors/notes.yaml'],
  seed: ['seed.yaml'],
  scenario: ['scenarios/shop-fails.yaml'],
  extension: ['extensions/teams.yaml'],
  config: ['toolmock', 'replica', 'client'].map((name) => `configurations/${name}.config.yaml`),
} as const
type Document = keyof typeof EXAMPLE_FILES

/** Every key of the files that users write, from the schemas that parse them, and every helper, from the table that runs it. */
export const fileReference: Step = {
  name: 'file reference',
  inputs: [
    EXAMPLES,
    'src/app/cli/configuration.ts',
    'src/app/cli/command-table.ts',
    'src/files',
    'src/model/domain',
    'src/model/schema',
    'src/scenarios/faults',
    'src/service/third-party/template.ts',
    'src/service/third-party/fake-data.ts',
  ],
  outputs: [PAGE],
  make: async (root) => new Map([[PAGE, await pretty(root, PAGE, await page(root))]]),
}

async function page(root: string): Promise<string> {
  const template = await import('../../src/service/third-party/template.ts')
  const { BLOCKS, HELPERS, MAX_TEMPLATE, MAX_TEMPLATE_DEPTH, MAX_STEPS, MAX_TEXT } = template
  const changing = [...HELPERS].flatMap(([name, { changes }]) => (changes ? [code(name)] : []))
  const { MAX_GENERATED } = await import('../../src/service/third-party/fake-data.ts')
  const schemas = (await schemaDocuments()) as Readonly<Record<string, JsonSchema>>
  const ofConnector = new Map([[identity(schemas['connector'] ?? {}), 'a [connector file](#connector-file)']])
  const section = async (document: Document, known = new Map<string, string>()): Promise<string> =>
    [
      ...documentTables(document, schemas[document] ?? {}, known),
      `### Examples: ${document}`,
      'Together they have every key. A project takes the few that it needs.',
      ...(await Promise.all(EXAMPLE_FILES[document].map((file) => exampleOf(root, file)))),
    ].join('\n\n')
  return `<!-- Made by \`npm run generate\` from the schemas of the files and the table of helpers: change it there. -->

# Files

This page lists every key of the files that you write, with examples, and every helper of templates. [Connectors](connectors.md), [Scenarios](scenarios.md), [Extensions](connectors.md#extensions) and [the configuration file](commands.md#the-configuration-file) show how they are used.

\`[]\` stands for each item of a list, \`*\` for each name that you choose. An unknown key is refused. \`spec/schemas\` has the same as JSON Schema: name one in \`$schema\` and your editor completes the keys.

A duration has a unit: \`250ms\`, \`30s\`, \`15m\`, \`2h\`, \`1h30m\`, \`1d\`, or ISO 8601 such as \`PT5M\`. \`validate\` warns of a number without a unit; the type says how it is read. [Conditions](connectors.md#conditions) select items of collections.

## Connector file

${await section('connector')}

## Seed file

${await section('seed', ofConnector)}

## Scenario file

${await section('scenario')}

## Extension file

Its requests belong to no account. So all share the items of a collection, whatever \`per\` says, and a responder with \`on.account\` never answers.

${await section('extension')}

## Configuration file

${await section('config')}

## Templates

A template is a text with expressions in \`{{ }}\`. The first table has the variables that an expression can name. A text that is one whole expression keeps the type of the value. A missing value is null, and empty inside a longer text.

| variable | where | what |
| --- | --- | --- |
| \`request\` | responders | \`method\`, \`path\`, \`protocol\`, \`params\`, \`query\`, \`headers\` (lower case), \`body\` |
| \`account\` | everywhere | \`id\`, \`identifier\`, \`connector\`, \`organization_id\`, \`user_id\`, \`api_config\`; null for a call without an account |
| \`person\` | responders, \`seed\` | who signed in |
| results | later steps, \`respond\` | \`item\`, \`items\`, or the name of \`as\`; \`page\` after a list |
| \`item\` | \`fields\`, \`set\`, \`unless\`, \`add\`, \`remove\`, \`show\` | the item that the step is about |
| \`sequence\` | \`fields\`, \`seed\` | the number of the item |
| \`error\` | \`otherwise\`, \`error_body\` | \`status\`, \`code\`, \`message\` |
| \`existing\` | \`otherwise\`, \`error_body\` after a conflict | the item that exists already |
| \`input\` | \`call\` and \`result\` of a tool | the input of the tool |
| \`response\` | \`result\` of a tool | \`status\`, \`headers\`, \`body\` |

| helper | example | gives |
| --- | --- | --- |
${[...HELPERS].map(([name, { example, gives }]) => row(code(name), code(example), gives)).join('\n')}

| block | example | gives |
| --- | --- | --- |
${[...BLOCKS].map(([name, { example, gives }]) => row(code(`#${name}`), code(example), gives)).join('\n')}

${changing.join(', ')} give another value each time. \`credentials.send\` cannot use them, because credentials have to stay the same.

| limit | at most |
| --- | --- |
${row('characters of a template', count(MAX_TEMPLATE))}
${row('levels that blocks and calls nest', count(MAX_TEMPLATE_DEPTH))}
${row('steps of the templates of one value: expressions, turns of a loop, random numbers', count(MAX_STEPS))}
${row('characters that the templates of one value make', count(MAX_TEXT))}
${row('of what `faker` counts: `length`, `count`', count(MAX_GENERATED))}

A responder whose template exceeds a limit answers 422 \`unusable_template\`, and a tool call fails with \`TOOL_ERROR\`. Both say which limit.
`
}

/** An example without the comment that says what it is about, which stands above the block. */
async function exampleOf(root: string, file: string): Promise<string> {
  const text = await readFile(join(root, EXAMPLES, file), 'utf8')
  const [, about = '', yaml = ''] = /^# (.*)\n([^]*)$/.exec(text) ?? []
  return `${about} \`${file}\`:\n\n\`\`\`yaml\n${yaml}\`\`\``
}

/** What the schemas of files use of JSON Schema. */
interface JsonSchema {
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly additionalProperties?: JsonSchema | boolean
}

/** An object with this many keys has a table of its own; the keys of a smaller one are in the table of the object around it. */
const OWN_TABLE = 5

/** A table for a document and for each larger object in it. `known` has the path of each described object by its identity. */
function documentTables(document: string, root: JsonSchema, known: Map<string, string>): string[] {
  const tables: string[] = []
  const table = (path: string, object: JsonSchema): void => {
    const own: string[] = []
    const inner: Place[] = []
    const rows = (at: string, { properties = {}, required = [] }: JsonSchema, isOneOfSeveral = false): void => {
      for (const [key, schema] of Object.entries(properties)) {
        const where = at === '' ? key : `${at}.${key}`
        if (schema.description === undefined) throw new Error(`${document}: ${where} has no description`)
        const places = objectsIn(schema, where)
        const described = places.flatMap((each) => known.get(identity(each.schema)) ?? [])
        const fresh = places.filter((each) => !known.has(identity(each.schema)))
        for (const each of fresh) known.set(identity(each.schema), `\`${each.path}\``)
        const large = fresh.filter((each) => Object.keys(each.schema.properties ?? {}).length >= OWN_TABLE)
        const meaning = [
          schema.description,
          ...described.map((place) => `Keys: as ${place}.`),
          ...large.map((each) => `[Keys](#${anchor(document, each.path)}).`),
        ]
        const usual = defaultOf(schema, required.includes(key) && !isOneOfSeveral)
        own.push(
          row(code(path === '' ? where : where.slice(path.length + 1)), typeOf(schema), usual, meaning.join(' ')),
        )
        for (const each of fresh) if (!large.includes(each)) rows(each.path, each.schema, fresh.length > 1)
        inner.push(...large)
      }
    }
    rows(path, object)
    const heading = path === '' ? '' : `### ${document}: \`${path}\`\n\n`
    tables.push([`${heading}| key | type | default | meaning |`, '| --- | --- | --- | --- |', ...own].join('\n'))
    for (const each of inner) table(each.path, each.schema)
  }
  table('', root)
  return tables
}

interface Place {
  readonly path: string
  readonly schema: JsonSchema
}

/** The objects with keys of their own that a value may be or contain. Of an object and a list of the same, one is returned. */
function objectsIn(schema: JsonSchema, path: string): Place[] {
  if (schema.properties) return Object.keys(schema.properties).length > 0 ? [{ path, schema }] : []
  if (schema.items) return objectsIn(schema.items, `${path}[]`)
  if (schema.title === undefined && typeof schema.additionalProperties === 'object') {
    return objectsIn(schema.additionalProperties, `${path}.*`)
  }
  const found = (schema.anyOf ?? []).flatMap((each) => objectsIn(each, path))
  return found.filter((each, at) => found.findIndex((other) => identity(other.schema) === identity(each.schema)) === at)
}

const PLURALS: Readonly<Record<string, string>> = {
  object: 'objects',
  text: 'texts',
  'name or object': 'names or objects',
}

function typeOf(schema: JsonSchema): string {
  const { title, type, items, anyOf, additionalProperties, minimum, maximum, maxLength } = schema
  if (title !== undefined && schema.properties === undefined) return title
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ')
  if (schema.properties && Object.keys(schema.properties).length === 0) return code('{}')
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (items) return `list of ${PLURALS[typeOf(items)] ?? typeOf(items)}`
  if (type === 'array') return 'list'
  if (type === 'integer') return ['integer', range(minimum, maximum)].filter(Boolean).join(', ')
  if (type === 'number') return ['number', range(minimum, maximum)].filter(Boolean).join(', ')
  if (type === 'string') return maxLength === undefined ? 'text' : `text of at most ${count(maxLength)} characters`
  if (type === 'boolean') return '`true`, `false`'
  if (typeof additionalProperties === 'object') return `${typeOf(additionalProperties)} by name`
  return [type ?? []].flat().join(' or ')
}

/** Bounds of 2,147,483,647 and beyond are left out: they are limits of the machine. */
function range(minimum = -Infinity, maximum = Infinity): string {
  const [from, to] = [minimum, maximum].map((bound) => Math.abs(bound) < 2 ** 31 - 1)
  if (from && to) return `${count(minimum)} to ${count(maximum)}`
  return from ? `at least ${count(minimum)}` : ''
}

function defaultOf({ default: value }: JsonSchema, required: boolean): string {
  if (required) return 'required'
  return value === undefined || value === '' ? '' : code(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Equal for two objects with the same keys. */
function identity({ properties = {} }: JsonSchema): string {
  const { $schema: _, ...keys } = properties
  return JSON.stringify(keys)
}

function anchor(document: string, path: string): string {
  return `${document}-${path}`.toLowerCase().replaceAll(/[^\w-]/g, '')
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function code(text: string): string {
  return `\`${text}\``
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
