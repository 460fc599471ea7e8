import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { FORMATS } from '../../../src/journal/verdict/formats/formats.ts'
import { it } from '../../support/toolmock.ts'
import { control, rendered, withViolations } from './reports.ts'
import { readXml } from './xml.ts'

const FORMAT_NAMES = Object.keys(FORMATS)

it.each(['contract', 'coverage'])('a report as JSON is valid by the published JSON Schema: %s', async (name) => {
  const schema = JSON.parse(readFileSync(`spec/schemas/${name}-report.schema.json`, 'utf8')) as object
  await withViolations(async (mock) => {
    const answer = await control(mock, 'get', `/${name}`)
    expect(answer.headers['content-type']).toBe('application/json')
    const check = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
    expect(check(answer.body), JSON.stringify(check.errors)).toBe(true)
    expect(answer.body.schema_version).toBe(2)
    expect(check({ ...answer.body, schema_version: 1 })).toBe(false)
    expect(check({ ...answer.body, more: 1 })).toBe(false)
  })
})

it.for(FORMAT_NAMES)('a report in any format is empty and ok without requests: %s', async (format, { mock }) => {
  await control(mock, 'delete', '/contract')
  const { text: written } = await rendered(mock, format)
  expect(written).not.toContain('undefined')
  if (format === 'junit') expect(readXml(written).attributes).toMatchObject({ failures: '0', errors: '0' })
  if (format === 'sarif') expect(JSON.parse(written)).toMatchObject({ runs: [{ results: [] }] })
  if (format === 'text') expect(written).toBe('toolmock: there is nothing to check\nno operation was called\n')
  if (format === 'gitlab') expect(JSON.parse(written)).toEqual([])
  if (format === 'github') expect(written).toBe('::notice title=toolmock::there is nothing to check\n')
  if (format === 'html') expect(written).toContain('<h1>No operation was called</h1>')
})

it.for(FORMAT_NAMES)('a report in any format contains no secret that a client sent: %s', async (format, { mock }) => {
  const connected_account = { authorization_details: { oauth_token: { refresh_token: ['hunter2'] } } }
  await mock.api.post('/connected_accounts', { connector: 'mail', identifier: 'a', connected_account })
  const { text: written } = await rendered(mock, format)
  expect(written).toContain('an array of 1 item')
  expect(written).not.toContain('hunter2')
})

it('a report in any format: that is unknown is refused with the known ones', async ({ mock }) => {
  for (const [name, allowed] of [
    ['contract', 'json, text, junit, sarif, gitlab, github, html'],
    ['coverage', 'json, html'],
  ] as const) {
    const { status, body } = await control(mock, 'get', `/${name}?format=pdf`)
    expect(status).toBe(400)
    expect(body.error).toMatchObject({
      code: 'INVALID_QUERY',
      details: [{ path: 'format', found: '"pdf"', allowed }],
    })
  }
})
