import { expect, it } from 'vitest'
import { TestServers, type ToolmockTestOptions } from '../../src/app/runners/test-runs.ts'
import { rejection } from '../app/library/with-mock.ts'

it('are one for each distinct options, and close together, also when one did not start', async () => {
  const [plain, strict, wrong] = [{}, { strict: true }, { scenario: 'nonesuch' }]
  const servers = new TestServers()
  const of = (options: ToolmockTestOptions) => servers.of(options)
  const [one, two, again, refused] = await Promise.all([of(plain), of(strict), of(plain), rejection(of(wrong))])
  expect(again).toBe(one)
  expect(two.url).not.toBe(one.url)
  expect(refused).toMatchObject({ code: 'NOT_STARTED' })
  await servers[Symbol.asyncDispose]()
  for (const server of [one, two]) expect(await rejection(server.reset())).toMatchObject({ code: 'CLOSED' })
})

it('refuse a misspelt option with the options of a test runner among the known ones', async () => {
  await using servers = new TestServers()
  const refused = await rejection(servers.of({ scop: 'worker' } as ToolmockTestOptions))
  expect(String(refused)).toMatch(/"scop" \(did you mean scope\?\); it has scenario, .*, connection, contract, scope$/)
})
