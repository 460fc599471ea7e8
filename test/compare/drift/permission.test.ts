import { expect, it } from 'vitest'
import { Skipped } from '../../../src/compare/conform/service-response.ts'
import { readDocument } from '../../../src/model/contract/generated/document.js'
import { Permission } from '../../../src/compare/drift/permission.ts'
import { configurationSchema } from '../../../src/app/cli/configuration.ts'
import { OTHER_WAYS } from '../../../src/compare/drift/remedies.ts'
import { settingsFields } from '../../../src/model/schema/tables.ts'
import { driftOf } from './broken-service.ts'

const API = '/api/v1'
const ADA = { connector: 'mail', identifier: 'toolmock-drift-1-ada@drift.example' }
const EVE = { connector: 'mail', identifier: 'eve@company.example' }

it.each([
  ['a list', 'GET', `${API}/connected_accounts`, undefined, true, true],
  ['a token', 'POST', '/oauth/token', 'grant_type=client_credentials', true, true],
  ['a new account of the run', 'POST', `${API}/connected_accounts`, ADA, false, true],
  ['a new account of another name', 'POST', `${API}/connected_accounts`, EVE, false, false],
  ['an account of the run by its id', 'POST', `${API}/connected_accounts:delete`, { id: 'ca_own' }, false, true],
  ['another account by its id', 'POST', `${API}/connected_accounts:delete`, { id: 'ca_other' }, false, false],
  [
    'another account whose request names the run',
    'PUT',
    `${API}/connected_accounts`,
    { id: 'ca_other', ...ADA },
    false,
    false,
  ],
  [
    'a verify for another user',
    'POST',
    `${API}/connected_accounts/user/verify`,
    { auth_request_id: 'a', identifier: 'eve' },
    false,
    false,
  ],
  ['a body that is no JSON', 'POST', `${API}/connected_accounts`, '{"identifier": ', false, false],
  ['a tool', 'POST', `${API}/execute_tool`, { connected_account_id: 'ca_own', tool_name: 't' }, false, false],
  ['a provider', 'POST', `${API}/custom-providers`, { display_name: 'toolmock-drift-1' }, false, false],
  ['the proxy', 'GET', '/proxy/me', undefined, false, false],
  ['an MCP server, for its tools', 'POST', '/mcp/v2/server-1', { method: 'tools/list' }, true, true],
  ['an MCP server, to call a tool', 'POST', '/mcp/v2/server-1', { method: 'tools/call' }, false, false],
  ['a path that is not known', 'DELETE', `${API}/everything`, undefined, false, false],
])('a service that is not on this machine gets %s as the flags say', (_what, method, path, sent, reading, writing) => {
  const body = typeof sent === 'object' ? JSON.stringify(sent) : sent
  const isSent = (writes: boolean): boolean => {
    const permission = new Permission({ isLocal: false, writes, prefix: 'toolmock-drift-1' })
    permission.addAccount({ connected_account: { id: 'ca_own', ...ADA } })
    permission.addAccount({ connected_account: { id: 'ca_other', ...EVE } })
    try {
      permission.check({ method, path, ...(body === undefined ? {} : { body }) })
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(Skipped)
      return false
    }
  }
  expect([isSent(false), isSent(true)]).toEqual([reading, writing])
})

it('an interrupted run removes what it has created, and says so', async () => {
  const interrupted = new AbortController()
  const left: number[] = []
  const { leftovers, report } = await driftOf(
    {
      mutate: ({ around }) => {
        around('create_connected_account', async (call, handler) => {
          const reply = await handler(call)
          left.push(1)
          if (left.length === 3) interrupted.abort()
          return reply
        })
        around('delete_connected_account', async (call, handler) => {
          const reply = await handler(call)
          left.pop()
          return reply
        })
      },
    },
    { only: ['create/*'], signal: interrupted.signal },
  )
  expect(leftovers).toEqual([])
  expect(left).toEqual([])
  expect(report.gaps.not_exercised).toContain('G20')
})

it('every setting of a seed with a choice of its own is tried', () => {
  const tried = OTHER_WAYS.flatMap(({ settings = {} }) => Object.keys(settings))
  const measured = ['bearer_token_lifetime', 'magic_link_lifetime', 'mcp', 'vocabulary']
  // No answer tells how long an auth request lives; the last two are the mock's own. No check has descriptors.
  const unknowable = ['auth_request_lifetime', 'descriptor_rules', 'consent', 'post_user_verify_redirect_url']
  expect([...new Set(tried), ...measured, ...unknowable].sort()).toEqual(Object.keys(settingsFields).sort())
})

it('every line of a configuration file that is tried is one that the file can have', () => {
  const lines = OTHER_WAYS.flatMap(({ configuration = [] }) => configuration)
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) expect(configurationSchema.parse(line)).toEqual(line)
})

it('every duration of the contract that a setting holds names one that there is', () => {
  const named = [...JSON.stringify(readDocument()).matchAll(/"x-setting":"(\w+)"/g)].map(([, name]) => name)
  expect([...new Set(named)].sort()).toEqual(['bearer_token_lifetime', 'magic_link_lifetime'])
  expect(Object.keys(settingsFields)).toEqual(expect.arrayContaining(named))
})
