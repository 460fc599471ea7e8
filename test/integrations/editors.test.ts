import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../../.build/project.ts'

const SCHEMAS = `${ROOT}spec/schemas`
const read = (path: string): unknown => parse(readFileSync(path, 'utf8'))

/** Checks a file as an editor does: references lead to the files beside the schema. */
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
for (const name of readdirSync(SCHEMAS)) ajv.addSchema(read(`${SCHEMAS}/${name}`) as object, `file:///schemas/${name}`)
const check = ajv.getSchema('file:///schemas/document.schema.json')
const problemsOf = (file: unknown): string[] =>
  check?.(file) === true ? [] : (check?.errors ?? []).map(({ message = '' }) => message)

const FILES = ['seeds', 'seeds/connectors', 'scenarios', 'extensions'].flatMap((folder) =>
  readdirSync(ROOT + folder).flatMap((name) => (name.endsWith('.yaml') ? `${folder}/${name}` : [])),
)

it.each(FILES)('the schema of all files accepts %s', (file) => {
  expect(problemsOf(read(ROOT + file))).toEqual([])
})

it.each([
  ['connector', { connector: 'mail', tools: 1 }],
  ['extension', { extension: 'x', routes: 1 }],
  ['scenario', { rules: 1 }],
  ['list of cases', { cases: 1 }],
  ['seed', { accounts: 1 }],
])('the schema of all files refuses a wrong %s', (_, file) => {
  expect(problemsOf(file)).not.toEqual([])
})

it('each schema has an $id of its own that is no address', () => {
  const ids = readdirSync(SCHEMAS).flatMap((name) =>
    name === 'document.schema.json' ? [] : (read(`${SCHEMAS}/${name}`) as { $id: string }).$id,
  )
  expect(ids.filter((id) => !/^urn:toolmock:schema:[\w-]+$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

it('the entries for the catalogue name existing schemas and different files', () => {
  const entries = read(`${ROOT}integrations/editors/catalog.json`) as { fileMatch: string[]; url: string }[]
  expect(entries.map(({ url }) => basename(url)).filter((name) => !readdirSync(SCHEMAS).includes(name))).toEqual([])
  expect(entries.flatMap(({ fileMatch }) => fileMatch)).toEqual(
    expect.arrayContaining(['*.toolmock.yaml', 'toolmock.config.yaml']),
  )
})
