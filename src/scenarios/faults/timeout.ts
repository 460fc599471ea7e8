import type { FaultMaker } from './fault.ts'

/** Never answers: the connection stays open until the client gives up. */
export const timeout: FaultMaker<'timeout'> = () => ({
  kind: 'timeout',
  sentence: 'never answers and leaves the connection open until the client gives up',
  before: async ({ response, pauses }) => {
    await pauses.hold(response)
    response.socket?.destroy()
  },
})
