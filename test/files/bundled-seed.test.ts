import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { schemaDocuments } from '../../.build/generate/json-schemas.ts'
import { loadSeeds } from '../../src/files/load.ts'
import { packageRoot } from '../../src/files/package-disk.ts'
import { textFiles } from '../../src/files/text-files.ts'
import { validateFiles } from '../../src/files/validate.ts'
import { AUTHORIZATION_TYPES, TRAITS } from '../../src/model/domain/authorization-type.ts'
import { isJsonObject, type JsonValue } from '../../src/model/domain/json.ts'
import { TWELVE_CONNECTORS } from '../support/twelve-connectors.ts'
import { CALLS, REFUSED_CALLS } from './bundled-calls.ts'
import { withFiles } from './files.ts'

const SEEDS = join(packageRoot(), 'seeds')
const bundle = await loadSeeds(['bundled'], DOCUMENT_CHECKS)
const calledTools = bundle.connectors.flatMap((connector) =>
  connector.tools.flatMap((tool) => (Object.hasOwn(CALLS, tool.name) ? [[tool.name, tool] as const] : [])),
)

describe('the bundled seed', () => {
  it('is valid', async () => {
    expect(await validateFiles([SEEDS], DOCUMENT_CHECKS)).toMatchObject({
      problems: [],
      unreadable: [],
    })
  })

  it('is read from the parsed file of the build or the test run, and from its own files without one', async () => {
    // The module keeps what it has read.
    vi.resetModules()
    const fresh = await import('../../src/files/load.ts')
    vi.stubGlobal('TOOLMOCK_PARSED_SEED', 'dist/there-is-none.json')
    await expect(fresh.loadSeeds(['bundled'], DOCUMENT_CHECKS)).rejects.toThrow('there-is-none.json')
    vi.stubGlobal('TOOLMOCK_PARSED_SEED', undefined)
    expect(await loadSeeds(['bundled'], DOCUMENT_CHECKS)).toEqual(bundle)
  })

  it('gives the same result together with another seed, parsed or not', () =>
    withFiles({ 'seed.yaml': 'accounts: [{ connector: mail, identifier: ada@example.com }]\n' }, async (folder) => {
      const paths = ['bundled', join(folder, 'seed.yaml')]
      const parsed = await loadSeeds(paths, DOCUMENT_CHECKS)
      expect(parsed.accounts).toHaveLength(1)
      vi.stubGlobal('TOOLMOCK_PARSED_SEED', undefined)
      expect(await loadSeeds(paths, DOCUMENT_CHECKS)).toEqual(parsed)
    }))

  it('begins with one connector for each authorization type, in the order of the enumeration', () => {
    const twelve = bundle.connectors.slice(0, TWELVE_CONNECTORS.length)
    expect(twelve.map((connector) => connector.authorization_type)).toEqual(AUTHORIZATION_TYPES)
    expect(twelve.map(({ connector }) => connector)).toEqual(TWELVE_CONNECTORS)
  })

  it('has one OIDC and one SAML connection, no accounts, and the default client', () => {
    expect(bundle.connections.map((connection) => connection.type)).toEqual(['OIDC', 'SAML'])
    expect(bundle.accounts).toEqual([])
    expect(bundle.generate).toEqual([])
    expect(bundle.clients).toEqual([{ id: 'test_client', client_secret: 'test_secret' }])
  })

  it.each(bundle.connectors.map((connector) => [connector.connector, connector] as const))(
    '%s has at least six tools, an answer that is an error, and people where it asks for consent, else none',
    (_name, connector) => {
      expect(connector.tools.length).toBeGreaterThanOrEqual(6)
      const statuses = connector.responders.flatMap(({ answers, steps = [] }) => [
        ...answers.map((answer) => answer.status),
        ...steps.flatMap(({ otherwise }) => otherwise?.status ?? []),
      ])
      expect(statuses.some((status) => status >= 400)).toBe(true)
      expect(statuses.some((status) => status < 300)).toBe(true)
      expect(connector.people.length > 0).toBe(TRAITS[connector.authorization_type].source === 'consent')
      expect(connector.description).not.toBe('')
    },
  )

  it.each(calledTools)('%s accepts a realistic input and refuses one with fields of the wrong type', (name, tool) => {
    const validate = addFormats.default(new Ajv2020({ strict: true, allErrors: true })).compile(tool.input_schema)
    expect([validate(CALLS[name]), validate.errors]).toEqual([true, null])
    const wrong = Object.fromEntries(Object.keys(CALLS[name] ?? {}).map((field) => [field, { is: 'wrong' }]))
    expect(validate(wrong)).toBe(false)
    expect(tool.description).not.toBe('')
  })

  it('describes every input of every tool', () => {
    const undescribed = bundle.connectors
      .flatMap(({ tools }) => tools)
      .flatMap(({ name, input_schema }) => inputsWithoutDescription(input_schema).map((input) => `${name}: ${input}`))
    expect(undescribed).toEqual([])
  })

  it('has tool names that no other connector has', () => {
    const names = bundle.connectors.flatMap((connector) => connector.tools.map((tool) => tool.name))
    expect(new Set(names).size).toBe(names.length)
  })

  it('has a call for each tool, and a refused one for each connector, in test/files/bundled-calls.ts', () => {
    const tools = bundle.connectors.map((connector) => connector.tools.map(({ name }) => name))
    expect(Object.keys(CALLS).sort()).toEqual(tools.flat().sort())
    expect(tools.filter((names) => !names.some((name) => Object.hasOwn(REFUSED_CALLS, name)))).toEqual([])
  })
})

/** The properties of a schema, at any depth, that have no description. */
function inputsWithoutDescription(schema: JsonValue | undefined): string[] {
  if (!isJsonObject(schema)) return []
  const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : []
  const inside = properties.flatMap(([name, property]) => [
    ...(isJsonObject(property) && property['description'] ? [] : [name]),
    ...inputsWithoutDescription(property),
  ])
  return [...inside, ...inputsWithoutDescription(schema['items'])]
}

it('the JSON Schemas of the documents: accept every bundled file and refuse an unknown key in it', async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  const { seed = {}, connector = {} } = await schemaDocuments()
  const validators = { seed: ajv.compile(seed), connector: ajv.compile(connector) }
  for (const { file, text } of await textFiles(SEEDS)) {
    const document: unknown = parse(text)
    const validate = isJsonObject(document) && 'connector' in document ? validators.connector : validators.seed
    expect([file, validate(document), validate.errors]).toEqual([file, true, null])
    expect([file, validate({ ...(document as object), surprise: 1 })]).toEqual([file, false])
  }
})

it('the JSON Schemas of the documents are what is in spec/schemas', async () => {
  for (const [name, schema] of Object.entries(await schemaDocuments())) {
    const file = join(packageRoot(), 'spec', 'schemas', `${name}.schema.json`)
    expect([name, JSON.parse(await readFile(file, 'utf8'))]).toEqual([name, JSON.parse(JSON.stringify(schema))])
  }
})
