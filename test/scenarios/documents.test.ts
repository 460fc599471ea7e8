import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/files/load.ts'
import { packageRoot } from '../../src/files/package-disk.ts'
import { bundledFile, bundledNames } from '../../src/files/package-files.ts'
import { FAULT_KINDS, FAULTS } from '../../src/scenarios/faults/faults.ts'
import { parseScenario } from '../../src/files/scenario-files.ts'
import { RULE_PLACES, type RequestPlace } from '../../src/model/domain/scenario.ts'
import { connectorsIn } from '../../src/files/seed-checks.ts'
import { validateFiles } from '../../src/files/validate.ts'

const ROOT = packageRoot()
const SCENARIOS = join(ROOT, 'scenarios')
const connectors = connectorsIn(await loadSeeds(['bundled'], DOCUMENT_CHECKS))

const text = await readFile(join(ROOT, 'docs/scenarios.md'), 'utf8')
const blocks = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => yaml)

it.each(blocks.map((yaml) => [/^name: (.*)$/m.exec(yaml)?.[1] ?? '', yaml]))(
  'docs/scenarios.md: %s is a scenario',
  async (name, yaml) => {
    expect((await parseScenario({ file: 'docs', text: yaml }, DOCUMENT_CHECKS, connectors)).name).toBe(name)
  },
)

/** The rows of a section's tables whose first cell is code, with the places that the second one names. */
const rowsOf = (section: string): [code: string, places: readonly RequestPlace[]][] => {
  const [, own = ''] = new RegExp(`^## ${section}\n([^]*?)(?=^## )`, 'm').exec(text) ?? []
  return [...own.matchAll(/^\| `(.*?)` +\| ([^|]*)/gm)].map(([, code = '', cell = '']) => {
    const places = RULE_PLACES.filter((place) => cell.includes(`\`${place}\``) !== cell.startsWith('all but'))
    return [code, places]
  })
}
const parses = async (at: RequestPlace, rule: object): Promise<boolean> => {
  const others = [{ name: 'overloads', at, then: 'overloaded' }]
  const scenario = { name: 'docs', initial: 'normal', rules: [{ name: 'rule', at, ...rule }, ...others] }
  const source = { file: 'docs', text: JSON.stringify(scenario) }
  return parseScenario(source, DOCUMENT_CHECKS, connectors).then(
    () => true,
    () => false,
  )
}
const latency = [{ latency: 1 }]

it('docs/scenarios.md has each key of on at the places where a rule may have it', async () => {
  const rows = rowsOf('Which requests: `on`')
  for (const [code, places] of rows) {
    const on: unknown = parse(`{ ${code} }`)
    const expected = places.length === 0 ? RULE_PLACES : places
    const taken = await Promise.all(RULE_PLACES.map((at) => parses(at, { on, do: latency })))
    expect([code, RULE_PLACES.filter((_, index) => taken[index])]).toEqual([code, expected])
  }
  expect(rows.length).toBeGreaterThan(9)
})

it('docs/scenarios.md has conditions that a rule may have', async () => {
  const rows = rowsOf('When: `when`')
  for (const [code] of rows)
    expect([code, await parses('service', { when: parse(`{ ${code} }`), do: latency })]).toEqual([code, true])
  expect(rows.length).toBeGreaterThan(6)
})

it('docs/scenarios.md has every fault, as a rule may have it at the places that the table names', async () => {
  const sections = ['faults of the response', 'how events are sent', 'changes of the data']
  const rows = sections.flatMap((section) => rowsOf(`What: ${section}`))
  for (const [code, places] of rows) {
    const fault = parse(`{ ${code} }`) as object
    const tried = places.length === 0 ? RULE_PLACES : places
    const taken = await Promise.all(tried.map((at) => parses(at, { do: [fault] })))
    expect([code, places.length === 0 ? taken.includes(true) : !taken.includes(false)]).toEqual([code, true])
  }
  const kinds = rows.map(([code]) => code.split(':')[0] ?? '')
  expect([...new Set(kinds)].sort()).toEqual([...FAULT_KINDS].sort())
})

it('docs/supported.md lists the bundled scenarios', async () => {
  const text = await readFile(join(ROOT, 'docs/supported.md'), 'utf8')
  const listed = [...text.matchAll(/^\| `([a-z0-9-]+)` +\|/gm)].map(([, name]) => name)
  expect(listed).toEqual(expect.arrayContaining(await bundledNames('scenario')))
})

it.each(FAULT_KINDS.filter((kind) => ['connection', 'delivery'].includes(FAULTS[kind].phase)))(
  'docs/grpc.md describes what a caller sees of %s',
  async (kind) => {
    expect(await readFile(join(ROOT, 'docs/grpc.md'), 'utf8')).toContain(`\`${kind}\``)
  },
)

it('a fault: of every kind has a test of what its caller sees', async () => {
  const names = ['scenarios/wire', 'scenarios/places', 'service/webhooks/faults']
  const tests = names.map((name) => join(ROOT, `test/${name}.test.ts`))
  const bundled = await Promise.all((await bundledNames('scenario')).map((name) => bundledFile('scenario', name)))
  const texts = [
    ...(await Promise.all(tests.map((file) => readFile(file, 'utf8')))),
    ...bundled.map(({ text }) => text),
  ]
  const untested = FAULT_KINDS.filter((kind) => !texts.some((text) => text.includes(`${kind}:`)))
  expect(untested, 'write a test of it in test/scenarios/wire.test.ts').toEqual([])
})

it('the bundled scenarios are valid, each in a file of its name', async () => {
  const names = await bundledNames('scenario')
  expect(names.length).toBeGreaterThan(15)
  expect(await validateFiles([SCENARIOS], DOCUMENT_CHECKS)).toMatchObject({
    // Files are in the order of their names with the ending, which differs where one name begins with another.
    files: names
      .map((name) => `${name}.yaml`)
      .sort()
      .map((file) => ({ file: join(SCENARIOS, file), kind: 'scenario' })),
    problems: [],
    unreadable: [],
  })
  for (const name of names) {
    const { text } = await bundledFile('scenario', name)
    expect((await parseScenario({ file: name, text }, DOCUMENT_CHECKS, connectors)).name).toBe(name)
  }
})

it('the bundled scenarios: fit their JSON Schema', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const schema = await readFile(join(ROOT, 'spec/schemas/scenario.schema.json'), 'utf8')
  const validate = ajv.compile(JSON.parse(schema) as object)
  for (const name of await bundledNames('scenario')) {
    const document: unknown = parse((await bundledFile('scenario', name)).text)
    expect([name, validate(document), validate.errors]).toEqual([name, true, null])
  }
  expect(validate({ name: 's', rules: [{ name: 'r', at: 'elsewhere' }] })).toBe(false)
})

it('the bundled scenarios have an acceptance test each', async () => {
  const folder = join(ROOT, 'test/scenarios/acceptance')
  const texts = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')))
  const tested = (await bundledNames('scenario')).filter((name) => texts.join('').includes(`it('${name}: given`))
  expect(tested).toEqual(await bundledNames('scenario'))
})
