import { connect, createToolmock, type Toolmock, type ToolmockOptions } from '../../src/index.ts'

/** The two ways to a mock; every test of a method takes both. */
export const WAYS = ['in this process', 'through connect()'] as const
export type Way = (typeof WAYS)[number]

/** Starts a server, runs `work` with it, stops. */
export async function withMock(
  way: Way,
  options: ToolmockOptions,
  work: (mock: Toolmock) => Promise<void>,
): Promise<void> {
  await using server = await createToolmock(options)
  if (way === 'in this process') {
    await work(server)
    return
  }
  const { adminToken } = options
  const { url, clientId, clientSecret } = server
  await using mock = await connect(url, { clientId, clientSecret, ...(adminToken === undefined ? {} : { adminToken }) })
  await work(mock)
}

/** What a promise is refused with. */
export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it was not refused')
}
