import { afterEach, describe, expect, it } from 'vitest'
import { ToolmockProgram } from '../../app/cli/toolmock-process.ts'
import { withBrokenMock } from '../../mutants/broken-mock.ts'

const toolmock = ToolmockProgram.forThisFile()
const children: { kill(signal: NodeJS.Signals): void }[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/**
 * Runs `toolmock drift --allow-writes` and interrupts it when the service has made a third account.
 * @returns what is there then of the accounts that the run has made
 */
async function interrupted(signal: NodeJS.Signals, mayDelete = true) {
  const accounts = new Set<string>()
  let child: { kill(signal: NodeJS.Signals): void } | undefined
  const ended = await withBrokenMock(
    {
      mutate: ({ around }) => {
        around('create_connected_account', async (call, handler) => {
          const reply = await handler(call)
          const { id } = (reply.body as { connected_account: { id: string } }).connected_account
          accounts.add(id)
          if (accounts.size === 3) child?.kill(signal)
          return reply
        })
        around('delete_connected_account', async (call, handler) => {
          if (!mayDelete) return { status: 500, body: {} }
          const reply = await handler(call)
          accounts.delete(String(call.body['id']))
          return reply
        })
      },
    },
    {},
    async ({ baseUrl, client }) => {
      const args = ['drift', '--base-url', baseUrl, '--allow-writes', '--only', 'create/*']
      const variables = { TOOLMOCK_CLIENT_ID: client.id, TOOLMOCK_CLIENT_SECRET: client.secret }
      const begun = toolmock.begin(args, { variables })
      child = begun.child
      children.push(begun.child)
      const { code, stderr } = await begun.end
      return { code, stderr: stderr.toString() }
    },
  )
  return { ...ended, accounts: [...accounts] }
}

describe('Ctrl-C while toolmock drift has accounts at the service', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s removes them, and exits 2', async (signal) => {
    const { code, stderr, accounts } = await interrupted(signal)
    expect({ code, accounts }).toEqual({ code: 2, accounts: [] })
    expect(stderr).toMatch(/the run was interrupted; what it had created was removed/)
  })

  it('lists what it could not remove, and exits 3', async () => {
    const { code, stderr, accounts } = await interrupted('SIGINT', false)
    expect(code).toBe(3)
    expect(accounts.length).toBeGreaterThan(2)
    for (const id of accounts) expect(stderr).toMatch(new RegExp(`could not be removed from http:\\S+: ${id}`))
  })
})
