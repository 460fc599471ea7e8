import { Code, createClient } from '@connectrpc/connect'
import { expect } from 'vitest'
import { ConnectedAccounts, ErrorInfoSchema, Tools } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { entriesOf, failure, it, TRANSPORTS } from './fixture.ts'

const VERIFY = 'http://localhost:3000/verify'

/** Gives consent as a browser does, and returns the auth request id of the redirect. */
async function approve(link: string): Promise<string> {
  const answer = await fetch(`${link}?decision=approve`, { redirect: 'manual' })
  return new URL(answer.headers.get('location') ?? '').searchParams.get('auth_request_id') ?? ''
}

it.for(Object.entries(TRANSPORTS))('%s', async ([_name, transportOf], { mock }) => {
  const { url, headers } = mock
  const accounts = createClient(ConnectedAccounts, transportOf(url))
  const tools = createClient(Tools, transportOf(url))
  const identifier = 'ada@example.com'

  expect((await accounts.listAccounts({}, { headers })).connectedAccounts).toEqual([])
  const { connectedAccount } = await accounts.createAccount({ connector: 'mail', identifier }, { headers })
  const id = connectedAccount?.id ?? ''
  const { link } = await accounts.createMagicLink({ id, userVerifyUrl: VERIFY, state: 'opaque' }, { headers })
  const authRequestId = await approve(link)
  const verified = await accounts.verifyUser({ authRequestId, identifier }, { headers })
  expect(verified.postUserVerifyRedirectUrl).toBe(`${url}/connect/success`)
  const sending = { connectedAccountId: id, toolName: 'mail_send_message' }
  const toolInput = { to: 'grace@example.com', subject: 'Lunch', body: 'On Friday?' }
  const { executionId, data } = await tools.executeTool({ ...sending, toolInput }, { headers })
  expect([executionId, data]).toEqual([
    expect.stringMatching(/^exec_/),
    { message_id: expect.any(String), thread_id: expect.any(String) },
  ])

  const byIdentifier = { identifier, toolName: 'mail_send_message', toolInput }
  expect((await tools.executeTool(byIdentifier, { headers })).executionId).toMatch(/^exec_/)

  expect((await failure(accounts.getDetails({ id: 'ca_unknown' }, { headers }))).code).toBe(Code.NotFound)
  const twice = await failure(accounts.createAccount({ connector: 'mail', identifier }, { headers }))
  expect(twice.code).toBe(Code.AlreadyExists)
  expect(twice.findDetails(ErrorInfoSchema)[0]?.resourceInfo?.resourceName).toBe(id)
  const refused = { ...toolInput, to: 'eve@blocked.example' }
  const tool = await failure(tools.executeTool({ ...sending, toolInput: refused }, { headers }))
  expect(tool.code).toBe(Code.Internal)
  expect(tool.findDetails(ErrorInfoSchema)).toMatchObject([
    {
      errorCode: 'TOOL_ERROR',
      toolErrorInfo: { toolErrorCode: 'recipient_blocked', executionId: expect.stringMatching(/^exec_/) },
    },
  ])

  await accounts.deleteAccount({ id }, { headers })
  expect((await failure(accounts.getDetails({ id }, { headers }))).code).toBe(Code.NotFound)
  const entries = entriesOf(mock).filter(({ kind }) => kind === 'request')
  expect(new Set(entries.map(({ protocol }) => protocol))).toEqual(new Set([_name.split(' ', 1).join()]))
  expect(entries.map(({ method }) => method.split('/')[1])).toEqual(
    expect.arrayContaining([
      'ListAccounts',
      'CreateAccount',
      'CreateMagicLink',
      'VerifyUser',
      'ExecuteTool',
      'DeleteAccount',
    ]),
  )
})
