import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validators } from '../../../.build/generate/validators.ts'
import { ToolSchemas } from '../../../src/model/contract/tool-schemas.ts'
import type { JsonObject, JsonValue } from '../../../src/model/domain/json.ts'
import { isInstantText } from '../../../src/model/schema/parts.ts'

type Check = (value: unknown) => boolean

/** Whether a tool takes an input whose only property has this schema. */
async function toolCheck(schema: JsonObject): Promise<Check> {
  const schemas = new ToolSchemas(() => undefined)
  const tool = { name: 'pay', input_schema: { properties: { value: schema } } }
  await schemas.prepare(tool)
  return (value) => schemas.check(tool, { value: value as JsonValue }).length === 0
}

/** The same by the validator that is generated of a spec. */
async function generatedCheck(schema: JsonObject): Promise<Check> {
  const root = await mkdtemp(join(tmpdir(), 'validators-'))
  try {
    await mkdir(join(root, 'spec'))
    const content = { 'application/json': { schema: { type: 'object', properties: { value: schema } } } }
    const operation = { operationId: 'pay', requestBody: { content }, responses: { 200: { description: 'Paid.' } } }
    const spec = { openapi: '3.1.0', paths: { '/pay': { post: operation } }, components: { schemas: {} } }
    await writeFile(join(root, 'spec/openapi.yaml'), JSON.stringify(spec))
    const [code = ''] = (await validators.make(root)).values()
    const file = join(root, 'validators.mjs')
    await writeFile(file, code)
    const { REQUESTS } = (await import(pathToFileURL(file).href)) as { REQUESTS: { pay: { body: Check } } }
    return (value) => REQUESTS.pay.body({ value })
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

describe.each([
  ['the schema of a tool', toolCheck],
  ['a generated validator', generatedCheck],
])('%s', (_, checkOf) => {
  it('takes every amount of two decimals as a multiple of 0.01, and no other', async () => {
    const isAmount = await checkOf({ multipleOf: 0.01 })
    const cents = Array.from({ length: 100_000 }, (_each, at) => at)
    expect(cents.filter((count) => !isAmount(Number(`${count}e-2`)))).toEqual([])
    expect(cents.filter((count) => isAmount(Number(`${count}5e-3`)))).toEqual([])
  })

  it.each([
    [0.1, 1.1, true],
    [0.1, 1.15, false],
    [1e-7, 3e-7, true],
    [1e-7, 1e21, true],
    [0.3, 1e300, false],
    [3, -9, true],
    [3, 10, false],
    [2.5, 5, true],
    [1e300, 1e-300, false],
    [1e-300, 1e300, true],
  ])('multipleOf %s of %s is %s', async (multipleOf, value, isValid) => {
    expect((await checkOf({ multipleOf }))(value)).toBe(isValid)
  })

  it.each([
    ['2030-01-31T12:00:00Z', true],
    ['2030-01-31t12:00:00.5z', true],
    ['2030-01-31T12:00:00+02:00', true],
    ['2028-02-29T12:00:00Z', true],
    ['2030-02-29T12:00:00Z', false],
    ['2030-04-31T12:00:00Z', false],
    ['2030-01-31T12:00:00+0200', false],
    ['2030-01-31T12:00:00+02', false],
    ['2030-01-31T24:00:00Z', false],
    ['2030-01-31T12:00:00+24:00', false],
    ['2030-01-31 12:00:00Z', false],
    ['2030-01-31T12:00Z', false],
    ['2030-01-31T12:00:00', false],
    ['2030-01-31T12:00:00Z\n', false],
  ])('format date-time of %j is %s', async (value, isValid) => {
    expect((await checkOf({ format: 'date-time' }))(value)).toBe(isValid)
  })

  it.each([
    ['2eb8aa08-aa98-11ea-b4aa-73b441d16380', true],
    ['2EB8AA08-AA98-11EA-B4AA-73B441D16380', true],
    ['urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380', false],
    ['{2eb8aa08-aa98-11ea-b4aa-73b441d16380}', false],
    ['2eb8aa08aa9811eab4aa73b441d16380', false],
  ])('format uuid of %j is %s', async (value, isValid) => {
    expect((await checkOf({ format: 'uuid' }))(value)).toBe(isValid)
  })
})

it.each([
  ['date-time', '1998-12-31T15:59:60-08:00', true],
  ['date-time', '1998-12-31T12:59:60Z', false],
  ['time', '12:00:00Z', true],
  ['time', '12:00:00+02:00', true],
  ['time', '12:00:00+0200', false],
  ['time', '12:00:00+02', false],
  ['hostname', 'www.example.com', true],
  ['hostname', 'www.example.com.', false],
  ['byte', 'aGk=', true],
  ['byte', 'aGk=\n!', false],
])('format %s of a tool input of %j is %s', async (format, value, isValid) => {
  expect((await toolCheck({ format }))(value)).toBe(isValid)
})

it('takes the product of any decimal and a whole number as a multiple', async () => {
  const isMultiple = await toolCheck({ multipleOf: 0.001 })
  fc.assert(fc.property(fc.integer(), (count) => isMultiple(Number(`${count}e-3`))))
})

it.each([
  ['2030-01-31T12:00:00+02:00', true],
  ['2030-02-30T12:00:00Z', false],
  ['2030-01-31T12:00:00+0200', false],
  ['2030-01-31 12:00:00Z', false],
  ['1998-12-31T23:59:60Z', false],
])('a time of a file, which is stored, takes %j: %s', (value, isValid) => {
  expect(isInstantText(value)).toBe(isValid)
})
