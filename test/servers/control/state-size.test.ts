import { expect } from 'vitest'
import { expectControlError, it, withControl } from './control-mock.ts'

it('that GET answers is accepted by PUT, at any --body-limit', async ({ startMock }) => {
  const { call } = await startMock({ bodyLimit: 1000 })
  const { body: state, status } = await call('get', '/state')
  expect(status).toBe(200)
  expect(JSON.stringify(state).length).toBeGreaterThan(1000)
  expect((await call('put', '/state', state as object)).status).toBe(200)
})

it('has one limit for both ways', async () => {
  let size = 0
  await withControl({ idSeed: 1 }, async ({ call }) => {
    size = Buffer.byteLength((await call('get', '/state')).text)
  })
  await withControl({ idSeed: 1, stateLimit: size }, async ({ call }) => {
    const { body: state } = await call('get', '/state')
    expect((await call('put', '/state', state as object)).status).toBe(200)
  })
  await withControl({ idSeed: 1, stateLimit: size - 1 }, async ({ call }) => {
    const refused = await call('get', '/state')
    expect(expectControlError(refused, 413, 'BODY_TOO_LARGE').message).toContain(`larger than ${size - 1} bytes`)
  })
})
