import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/files/load.ts'
import { packageRoot } from '../../src/files/package-disk.ts'
import { bundledFile, bundledNames } from '../../src/files/package-files.ts'
import { FAULT_KINDS, FAULTS } from '../../src/scenarios/faults/faults.ts'
import { parseScenario } from '../../src/files/scenario-files.ts'
import { connectorsIn } from '../../src/files/seed-checks.ts'
import { validateFiles } from '../../src/files/validate.ts'

const ROOT = packageRoot()
const SCENARIOS = join(ROOT, 'scenarios')
const connectors = connectorsIn(await loadSeeds(['bundled'], DOCUMENT_CHECKS))

describe('docs/scenarios.md', async () => {
  const text = await readFile(join(ROOT, 'docs/scenarios.md'), 'utf8')
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => yaml)

  it.each(blocks.map((yaml) => [/^name: (.*)$/m.exec(yaml)?.[1] ?? '', yaml]))(
    '%s is a scenario',
    async (name, yaml) => {
      expect((await parseScenario({ file: 'docs', text: yaml }, DOCUMENT_CHECKS, connectors)).name).toBe(name)
    },
  )

  it('has an example of every fault', async () => {
    const scenarios = await Promise.all(
      blocks.map((yaml) => parseScenario({ file: 'docs', text: yaml }, DOCUMENT_CHECKS, connectors)),
    )
    const kinds = scenarios.flatMap(({ rules }) => rules.flatMap((rule) => rule.do.map(({ kind }) => kind)))
    expect([...new Set(kinds)].sort()).toEqual([...FAULT_KINDS].sort())
  })

  it.each(FAULT_KINDS.filter((kind) => FAULTS[kind].phase !== 'model'))(
    'describes what %s does to an answer',
    (kind) => {
      expect(text.replaceAll(/^```.*?^```/gms, '')).toContain(`\`${kind}\``)
    },
  )

  it('lists the bundled scenarios', async () => {
    const listed = [...text.matchAll(/^\| `([a-z0-9-]+)` +\|/gm)].map(([, name]) => name)
    expect(listed).toEqual(expect.arrayContaining(await bundledNames('scenario')))
  })
})

describe('docs/grpc.md', () => {
  it.each(FAULT_KINDS.filter((kind) => ['connection', 'delivery'].includes(FAULTS[kind].phase)))(
    'describes what a caller sees of %s',
    async (kind) => {
      expect(await readFile(join(ROOT, 'docs/grpc.md'), 'utf8')).toContain(`\`${kind}\``)
    },
  )
})

describe('a fault', () => {
  it('of every kind has a test of what its caller sees', async () => {
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
})

describe('the bundled scenarios', () => {
  it('are valid, each in a file of its name', async () => {
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

  it('fit their JSON Schema', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const schema = await readFile(join(ROOT, 'spec/schemas/scenario.schema.json'), 'utf8')
    const validate = ajv.compile(JSON.parse(schema) as object)
    for (const name of await bundledNames('scenario')) {
      const document: unknown = parse((await bundledFile('scenario', name)).text)
      expect([name, validate(document), validate.errors]).toEqual([name, true, null])
    }
    expect(validate({ name: 's', rules: [{ name: 'r', at: 'elsewhere' }] })).toBe(false)
  })

  it('have an acceptance test each', async () => {
    const folder = join(ROOT, 'test/scenarios/acceptance')
    const texts = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')))
    const tested = (await bundledNames('scenario')).filter((name) => texts.join('').includes(`it('${name}: given`))
    expect(tested).toEqual(await bundledNames('scenario'))
  })
})
