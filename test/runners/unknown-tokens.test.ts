import { expect, it } from 'vitest'
import { createToolmock } from '../../src/index.ts'
import { TestRun } from '../../src/app/runners/test-runs.ts'
import { until } from '../support/until.ts'

it.each([
  ['an unknown token', { Authorization: 'Bearer unknown' }, /1 request with an unknown token reached the server/],
  ['no token', {}, undefined],
])('the block of a failed test whose client sends %s says so', async (_, headers, said) => {
  await using toolmock = await createToolmock()
  const send = (sent: Record<string, string>) => fetch(`${toolmock.url}/api/v1/connections`, { headers: sent })
  await send({ Authorization: 'Bearer of-an-earlier-test' })
  const answeredAt = Date.now()
  await until(() => Date.now() > answeredAt)
  await using run = await TestRun.begin(toolmock, {}, { label: 'a test' })
  await send(headers)
  const block = await run.end(true)
  if (said) expect(block).toMatch(said)
  else expect(block).toBeUndefined()
})
