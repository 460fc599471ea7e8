import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import { runProgram } from '../../../src/app/cli/program.ts'
import type { ControlCall } from '../../../src/model/contract/control-call.ts'
import { wayOf } from '../../../src/model/domain/action.ts'
import { ControlClient } from '../../../src/app/library/control-client.ts'
import { CONTROL_TOOLS } from '../../../src/servers/mcp/control-tools.ts'
import type { ExplanationDocument } from '../../../src/journal/request-journal/explain.ts'
import type { Terminal } from '../../../src/platform/terminal.ts'

interface Commands {
  readonly url: string
  /** Calls the control API. */
  readonly control: (method: string, path: string, body?: object) => Promise<unknown>
  /** What a command prints, which has to succeed. */
  readonly run: (line: readonly string[], terminal?: Terminal) => Promise<string>
}

/** Commands in this process against a server in this process. */
async function withCommands(use: (commands: Commands) => Promise<void>): Promise<void> {
  const app = await createApp()
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  const run: Commands['run'] = async (line, terminal) => {
    const printed: string[] = []
    const print = (text: string): void => void printed.push(text)
    const code = await runProgram(line, { variables: { TOOLMOCK_URL: url }, out: print, err: print, terminal })
    expect({ code, printed }).toMatchObject({ code: 0 })
    return printed.join('\n')
  }
  const control: Commands['control'] = async (method, path, body) => {
    const headers = { 'Content-Type': 'application/json' }
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
    return (await fetch(`${url}/_mock${path}`, { method, ...sent })).json()
  }
  try {
    await use({ url, control, run })
  } finally {
    await app.close()
  }
}

it('report says how often each rule fired, and wraps and has colours only on a terminal', () =>
  withCommands(async ({ control, run }) => {
    await control('POST', '/scenarios/rate-limited/start')
    const text = await run(['report'])
    expect(text).toContain('\n  violation  rule ')
    expect(text).toMatch(/\nrule "[^"]+" of scenario rate-limited fired 0 times: no request matched it\n/)
    const columns = 57
    const shown = await run(['report'], { columns, isColoured: true })
    expect(shown).toContain('\n  \u001b[31mviolation\u001b[39m  rule ')
    const plain = stripVTControlCharacters(shown)
    expect(plain).toBe(await run(['report'], { columns, isColoured: false }))
    expect(plain.split('\n').filter((each) => each.length > columns)).toEqual([])
    expect(plain.replaceAll(/\n {2,13}(?=\S)(?!violation)/g, ' ')).toBe(text)
  }))

type Api = (method: string, path: string, body?: object) => Promise<{ status: number; id: string }>

interface Case {
  /** Requests until one has the action; answers the id of the one to explain. */
  readonly ask: (api: Api, control: Commands['control']) => Promise<string>
  readonly command?: RegExp
  readonly tool?: RegExp
  /** What is so once the action was done. */
  readonly check: (api: Api, control: Commands['control']) => Promise<unknown>
  readonly expected: unknown
}

const ADA = { connector: 'mail', identifier: 'ada@example.com' }
const SEED = {
  settings: { consent: 'ask' },
  accounts: [{ ...ADA, id: 'ca_seeded', authorization_details: { oauth_token: { access_token: 'a' } } }],
  providers: [{ display_name: 'Own', identifier: 'own' }],
}
const execute = (api: Api, identifier: string) =>
  api('POST', '/execute_tool', { ...ADA, identifier, tool_name: 'mail_list_messages', tool_input: {} })
const attempts = async (control: Commands['control']) => {
  const { requests } = (await control('GET', '/requests?kind=webhook')) as { requests: { id: string }[] }
  return requests.map(({ id }) => id)
}

const CASES: Readonly<Record<string, Case>> = {
  stop_scenario: {
    ask: async (api, control) => {
      const rules = [{ name: 'down', at: 'service', do: [{ respond: { status: 503 } }] }]
      await control('PUT', '/scenarios/down', { name: 'down', rules })
      await control('POST', '/scenarios/down/start')
      return (await api('GET', '/connections')).id
    },
    command: /^scenario stop down /,
    tool: /^stop_scenario {"name":"down"}$/,
    check: async (api) => (await api('GET', '/connections')).status,
    expected: 200,
  },
  approve_link: {
    ask: async (api) => {
      await api('POST', '/connected_accounts/magic_link', { ...ADA, identifier: 'grace@example.com' })
      return (await execute(api, 'grace@example.com')).id
    },
    command: /^links approve \S+/,
    tool: /^complete_link {"link":"[^"]+","decision":"approve"}$/,
    check: async (api) => (await execute(api, 'grace@example.com')).status,
    expected: 200,
  },
  set_clock: {
    ask: async (api, control) => {
      await control('PUT', '/webhooks/refused', {
        url: 'http://127.0.0.1:1/',
        secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0',
      })
      await api('POST', '/connected_accounts', { ...ADA, identifier: 'zoe@example.com' })
      await expect.poll(() => attempts(control)).toHaveLength(1)
      return (await attempts(control)).join()
    },
    command: /^clock set \S+/,
    tool: /^set_clock {"now":"[^"]+"}$/,
    check: async (_, control) => {
      await expect.poll(() => attempts(control)).toHaveLength(2)
    },
    expected: undefined,
  },
  'reset, for an account': {
    ask: async (api) => {
      await api('POST', '/connected_accounts:delete', { id: 'ca_seeded' })
      return (await api('GET', '/connected_accounts/details?id=ca_seeded')).id
    },
    command: /^reset/,
    tool: /^reset {}$/,
    check: async (api) => (await api('GET', '/connected_accounts/details?id=ca_seeded')).status,
    expected: 200,
  },
  'reset, for a provider': {
    ask: async (api) => {
      await api('DELETE', '/custom-providers/own')
      return (await api('DELETE', '/custom-providers/own')).id
    },
    command: /^reset/,
    tool: /^reset {}$/,
    check: async (api) => (await api('DELETE', '/custom-providers/own')).status,
    expected: 200,
  },
  enable_connection: {
    ask: async (api, control) => {
      await control('POST', '/connections/mail/disable')
      return (await execute(api, ADA.identifier)).id
    },
    check: async (api) => (await execute(api, ADA.identifier)).status,
    expected: 200,
  },
}

describe('an action of an explanation does what it says', () => {
  const rows = Object.entries(CASES).flatMap(([name, each]) => [
    ...(each.command ? [[name, 'the command that explain prints', each] as const] : []),
    ...(each.tool ? [[name, 'the call that the control MCP server names', each] as const] : []),
    [name, 'the button of the dashboard', each] as const,
  ])
  it.each(rows)('%s, by %s', (_, way, { ask, command, tool, check, expected }) =>
    withCommands(async ({ url, control: all, run }) => {
      const control: Commands['control'] = (method, path, body) =>
        all(method, `${path}${path.includes('?') ? '&' : '?'}environment=tried`, body)
      const made = (await all('POST', '/environments', { name: 'tried' })) as Record<string, string>
      await control('POST', '/seed', SEED)
      const form = { grant_type: 'client_credentials', ...made } as unknown as Record<string, string>
      const token = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
      const { access_token: bearer } = (await token.json()) as { access_token: string }
      const api: Api = async (method, path, body) => {
        const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' }
        const sent = body === undefined ? {} : { body: JSON.stringify(body) }
        const answer = await fetch(`${url}/api/v1${path}`, { method, headers, ...sent })
        return { status: answer.status, id: answer.headers.get('x-request-id') ?? '' }
      }
      const id = await ask(api, control)
      const lineAfterAction = (text: string): string => /\n→ .*\n {2}(\S.*)/.exec(text)?.[1] ?? ''
      if (way.includes('command')) {
        const line = lineAfterAction(await run(['explain', id, '--environment', 'tried']))
        expect(line).toMatch(/^npx toolmock .* --environment tried$/)
        const words = line.slice('npx toolmock '.length)
        expect(words).toMatch(command ?? /^$/)
        await run([...words.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word))
      } else if (way.includes('MCP')) {
        const client = new ControlClient({ url }, 'tried')
        const call: ControlCall = (route, sent) => client.call(route, sent)
        const use = async (name: string, input: object) =>
          (await CONTROL_TOOLS.find((each) => each.name === name)?.run(input as never, call, url))?.join('\n') ?? ''
        const line = lineAfterAction(await use('explain_request', { id }))
        expect(line).toMatch(tool ?? /^$/)
        const [name = '', input = ''] = line.split(/ (.*)/)
        await use(name, JSON.parse(input) as object)
      } else {
        const { actions } = (await control('GET', `/requests/${id}/explain`)) as ExplanationDocument
        const [call] = actions.flatMap((each) => wayOf(each) ?? []).map((each) => each.call)
        const [method = '', path = [], body] = call ?? []
        await control(method, `/${path.map(encodeURIComponent).join('/')}`, body)
      }
      expect(await check(api, control)).toEqual(expected)
    }),
  )
})

it('explain of a journal file leaves out what only its server could do, which is gone', () =>
  withCommands(async ({ run }) => {
    const file = join(mkdtempSync(join(tmpdir(), 'toolmock-actions-')), 'journal.jsonl')
    const actions = [
      { action: 'stop_scenario', target: 'down', value: null, text: 'Stop scenario down.' },
      { action: 'get_token', target: null, value: null, text: 'Get a token.' },
    ]
    const text = ['It failed.', ...actions.map((each) => `→ ${each.text}`)].join('\n')
    writeFileSync(file, `${JSON.stringify({ id: 'req_1', explanation: { text, actions } })}\n`)
    expect(await run(['explain', 'req_1', '--journal', file])).toBe('It failed.\n→ Get a token.')
  }))
