import { expect } from 'vitest'
import { rulesNotFired } from '../../../src/scenarios/scenario-run.ts'
import { it, type McpMock } from '../../servers/mcp/fixture.ts'

const MESSAGE = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }

async function started(mock: McpMock, name: string) {
  await mock.call('POST', `/_mock/scenarios/${name}/start`)
  const environment = mock.app.services.defaultEnvironment()
  if (!environment) throw new Error('there is no default environment')
  return { environment, unfired: () => rulesNotFired(mock.app.services.scenarios.of(environment).history()) }
}

it('mcp-session-ends: given a client with a session, when it calls twice, then it has to initialize again', async ({
  mock,
}) => {
  const scenario = await started(mock, 'mcp-session-ends')
  scenario.environment.configure({ mcp: { sessions: true } })
  const client = await mock.connect()
  expect((await client.callTool(MESSAGE)).isError).toBeUndefined()
  await expect(client.callTool(MESSAGE)).rejects.toThrow('MCP_SESSION_NOT_FOUND')
  expect((await (await mock.connect()).callTool(MESSAGE)).isError).toBeUndefined()
  expect(scenario.unfired()).toEqual([])
})

it('mcp-handshake-fails: given a client, when it connects, then it has to try again', async ({ mock }) => {
  const scenario = await started(mock, 'mcp-handshake-fails')
  await expect(mock.connect()).rejects.toThrow('503')
  const client = await mock.connect()
  expect((await client.callTool(MESSAGE)).isError).toBeUndefined()
  expect(scenario.unfired()).toEqual([])
})
