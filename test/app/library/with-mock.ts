import { connect, createToolmock, type Toolmock, type ToolmockOptions } from '../../../src/index.ts'

/** The two ways to get a mock; every test of a method uses both. */
export const ACCESSES = ['in this process', 'through connect()'] as const
export type Access = (typeof ACCESSES)[number]

/** Starts a server, runs `work` with it, and stops the server. */
export async function withMock(
  access: Access,
  options: ToolmockOptions,
  work: (mock: Toolmock) => Promise<void>,
): Promise<void> {
  await using server = await createToolmock(options)
  if (access === 'in this process') {
    await work(server)
    return
  }
  const { adminToken } = options
  const { url, clientId, clientSecret } = server
  await using mock = await connect(url, { clientId, clientSecret, ...(adminToken === undefined ? {} : { adminToken }) })
  await work(mock)
}

/** The error that a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('the promise was not rejected')
}
