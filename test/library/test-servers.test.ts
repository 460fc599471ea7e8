import { describe, expect, it } from 'vitest'
import { createToolmock } from '../../src/index.ts'
import { TestServers } from '../../src/library/test-servers.ts'
import { rejection } from './with-mock.ts'

describe('the servers of a worker', () => {
  it('are one for each distinct options, and close together, also when one did not start', async () => {
    const [plain, strict, wrong] = [{}, { strict: true }, { scenario: 'nonesuch' }]
    const servers = new TestServers()
    const of = (options: object) => servers.of(options, () => createToolmock(options))
    const [one, two, again, refused] = await Promise.all([of(plain), of(strict), of(plain), rejection(of(wrong))])
    expect(again).toBe(one)
    expect(two.url).not.toBe(one.url)
    expect(refused).toMatchObject({ code: 'NOT_STARTED' })
    await servers[Symbol.asyncDispose]()
    for (const server of [one, two]) expect(await rejection(server.reset())).toMatchObject({ code: 'CLOSED' })
  })
})
