import { expect, it } from 'vitest'
import { generatedDetails } from '../../../src/model/domain/connector-defaults.ts'
import { MAX_VALUE, readCredentials } from '../../../src/ui/pages/credentials-page.ts'
import { testEnvironment } from '../../support/environment.ts'

const field = (name: string, secret = false, required = true) => ({ name, label: name, secret, required, hint: '' })
const fields = [field('site'), field('api_key', true), field('note', false, false)]

it.each([
  ['site=acme&api_key=k&note=&other=x', [], { site: 'acme', api_key: 'k' }],
  ['site=acme&api_key=k&api_key=second', [], { site: 'acme', api_key: 'k' }],
  ['site=+&api_key=k', ['site'], { site: ' ', api_key: 'k' }],
  ['', ['site', 'api_key'], {}],
  [`site=a&api_key=${'k'.repeat(MAX_VALUE)}`, [], { site: 'a', api_key: 'k'.repeat(MAX_VALUE) }],
  [`site=a&api_key=k&note=${'k'.repeat(MAX_VALUE + 1)}`, ['note'], expect.anything()],
])('readCredentials reads %.60s', (form, problems, values) => {
  const filled = readCredentials(fields, new URLSearchParams(form))
  expect([...filled.problems.keys()]).toEqual(problems)
  expect(Object.fromEntries(filled.values)).toEqual(values)
})

it('readCredentials reads __proto__ and constructor as ordinary names', () => {
  const odd = [field('__proto__'), field('constructor')]
  const { values } = readCredentials(odd, new URLSearchParams('__proto__=a&constructor=b'))
  expect(JSON.stringify(Object.fromEntries(values))).toBe('{"__proto__":"a","constructor":"b"}')
})

it('generatedDetails fills secret fields with random values and the others with the identity', () => {
  const { ids } = testEnvironment()
  const details = generatedDetails(fields, ids, 'ada@example.com')
  expect(details).toEqual({
    site: 'ada@example.com',
    note: 'ada@example.com',
    api_key: expect.stringMatching(/^[\w-]{40,}$/),
  })
  expect(generatedDetails(fields, ids, undefined).site).toMatch(/^user_/)
})
