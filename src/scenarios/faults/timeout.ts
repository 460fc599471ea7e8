import { defineFault } from './fault.ts'

/** Never answers: the connection stays open until the client gives up. */
export const timeout = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'No answer ever; nothing is carried out.',
  example: {},
  sentence: () => 'never answers and leaves the connection open until the client gives up',
  phase: 'connection',
  end: async ({ response, pauses }) => {
    await pauses.untilClosed(response)
    response.socket?.destroy()
  },
})
