import { type RequestListener } from 'node:http'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type AppOptions, createApp } from '../../../src/app/app.ts'
import type { EnvironmentVariables } from '../../../src/app/cli/arguments.ts'
import { runProgram } from '../../../src/app/cli/program.ts'
import type { DriftFinding } from '../../../src/compare/drift/findings.ts'
import type { Mutant } from '../../mutants/mutant.ts'
import { withBrokenMock } from '../../mutants/broken-mock.ts'
import { withServer } from '../../support/server.ts'

const FOLDER = await mkdtemp(join(tmpdir(), 'toolmock-drift-test-'))
afterAll(() => rm(FOLDER, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly progress: readonly string[]
}

const CREDENTIALS = { TOOLMOCK_CLIENT_ID: 'test_client', TOOLMOCK_CLIENT_SECRET: 'test_secret' }

async function command(args: readonly string[], variables: EnvironmentVariables = {}): Promise<Ended> {
  const lines = { out: [] as string[], err: [] as string[], progress: [] as string[] }
  const code = await runProgram(['drift', ...args], {
    variables: { ...CREDENTIALS, ...variables },
    out: (line) => void lines.out.push(line),
    err: (line) => void lines.err.push(line),
    progress: (line) => void lines.progress.push(line),
  })
  return { code, stdout: lines.out.join('\n'), stderr: lines.err.join('\n'), progress: lines.progress }
}

/** Runs `toolmock drift` in this process, against a mock with other choices, or a broken one. */
function against(
  args: readonly string[],
  service: AppOptions = {},
  mutate: Mutant['mutate'] = () => undefined,
  variables: EnvironmentVariables = {},
) {
  return withBrokenMock({ mutate }, service, ({ baseUrl }) => command(['--base-url', baseUrl, ...args], variables))
}

/** A file with this text. */
async function fileOf(name: string, text: string): Promise<string> {
  const file = join(FOLDER, name)
  await writeFile(file, text)
  return file
}

const statusOfCreate: Mutant['mutate'] = ({ reply }) => {
  reply((answer) => {
    if (answer.status === 201) answer.status = 200
  })
}
const CREATE = ['--only', 'create/created']

describe('toolmock drift', () => {
  it('exits 0 without findings, with its progress on a terminal', async () => {
    const ended = await against(CREATE)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout.split('\n').at(-1)).toBe('0 findings: 0 contract, 0 mock, 0 data')
    expect(ended.progress[0]).toBe('0/1 create/created')
    expect(ended.progress[1]).toBe('0/3 requests, create/created')
  })

  it('exits 1 for a service that breaks its document', async () => {
    const ended = await against([...CREATE, '--format', 'json'], {}, statusOfCreate)
    expect(ended.code).toBe(1)
    const { findings, summary } = JSON.parse(ended.stdout)
    expect(findings).toMatchObject([
      {
        id: 'create_connected_account/create/created/status',
        class: 'contract',
        operation: 'create_connected_account',
        service: 200,
        mock: 201,
      },
    ])
    expect(summary).toMatchObject({ total: 1, contract: 1 })
  })

  it.each([
    ['contract', 0],
    ['mock', 1],
    ['none', 0],
  ])('with --fail-on %s exits %i where only the mock chose otherwise', async (failOn, code) => {
    const only = ['--only', 'discovery/tools*', '--fail-on', failOn]
    expect(await against(only, { documentedOnly: true })).toMatchObject({ code })
  })

  it('names the line of the configuration that fixes a difference, and writes it with --write-settings', async () => {
    const file = join(FOLDER, 'settings.yaml')
    const ended = await against(['--only', 'discovery/*', '--write-settings', file], { documentedOnly: true })
    expect(ended.stdout).toContain('fix: {"configuration":{"documented_only":true}}')
    expect(await readFile(file, 'utf8')).toContain('#   documented_only: true')
  })

  it.each([
    ['a flag', ['--documented-only'], {}],
    ['a variable', [], { TOOLMOCK_DOCUMENTED_ONLY: 'true' }],
  ])('compares with a mock that has a setting of the configuration by %s', async (_by, flags, variables) => {
    const ended = await against(['--only', 'discovery/*', ...flags], { documentedOnly: true }, undefined, variables)
    expect(ended.stdout).toContain('0 findings')
  })

  it('writes the words and lifetimes of the service, with which nothing differs', async () => {
    const seed = await fileOf(
      'words.yaml',
      'settings: { vocabulary: { PENDING_AUTH: WAITING }, bearer_token_lifetime: 1h, magic_link_lifetime: 5m }',
    )
    const file = join(FOLDER, 'words-found.yaml')
    const only = ['--only', 'create/*', '--only', 'link/shape', '--only', 'link/expiry', '--only', 'token/lifetime']
    const service = { seeds: ['bundled', seed] }
    const ended = await against([...only, '--write-settings', file], service)
    expect(ended.stdout).toMatch(/^contract .*connected_account\.status\/word \(document:2\.1\)$/m)
    expect(await readFile(file, 'utf8')).toMatch(/bearer_token_lifetime: 3600s[^]*magic_link_lifetime: 300s/)
    const again = await against([...only, '--seed', 'bundled', '--seed', file, '--fail-on', 'mock'], service)
    expect(again.stdout).toContain('0 findings')
  })

  it('compares with a mock that has the connectors of the service, whose users sign in', async () => {
    const seed = await fileOf(
      'own.yaml',
      `connectors:
  - connector: acme-calendar
    authorization_type: OAUTH
    people: [ada@acme.example]
    tools: [{ name: acme_list, description: Lists., input_schema: { type: object }, call: { method: GET, path: /v1 } }]
    responders: [{ on: {}, respond: { body: {} } }]
`,
    )
    const only = ['connections/*', 'create/*', 'discovery/tools'].flatMap((each) => ['--only', each])
    const ended = await against(only, { seeds: [seed] })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('0 findings')
  })

  it('finds the words of the service for what connections and connectors are', async () => {
    const seed = await fileOf(
      'types.yaml',
      'settings: { vocabulary: { WORKSPACE_DWD: ACME_DWD, workspace_dwd: acme_dwd } }',
    )
    const only = ['--only', 'connections/listed', '--only', 'create/*']
    const ended = await against(only, { seeds: ['bundled', seed] })
    expect(ended.stderr).toBe('')
    expect(ended.stdout).toContain('fix: {"settings":{"vocabulary":{"WORKSPACE_DWD":"ACME_DWD"}}}')
  })

  it('asks a service that has accounts already about none of them', async () => {
    const accounts = [{ connector: 'mail', identifier: 'ada@example.com' }]
    const seeds = ['bundled', await fileOf('held.json', JSON.stringify({ accounts }))]
    const only = ['bearer/*', 'errors/*', 'auth/*'].flatMap((name) => ['--only', name])
    const { stdout } = await against([...only, '--format', 'json'], { seeds })
    const { findings } = JSON.parse(stdout) as { findings: DriftFinding[] }
    expect(findings.filter(({ class: of }) => of === 'contract')).toEqual([])
    expect(stdout).not.toContain('ada@example.com')
  })

  it('leaves out findings that --accept names, and adds entries that no longer occur', async () => {
    const file = await fileOf(
      'accept.yaml',
      '- { finding: create_connected_account/create/created/status, reason: known }\n- { finding: x/create/created:gone/status, reason: old }\n',
    )
    const ended = await against([...CREATE, '--accept', file], {}, statusOfCreate)
    expect(ended.code).toBe(1)
    expect(ended.stdout).toContain('x/create/created:gone/status/accepted')
    expect(ended.stdout).toMatch(/remove the entry .*\n\n/)
    expect(ended.stdout).not.toContain('create/created/status')
  })

  it('says nothing of entries of --accept whose requests --only leaves out', async () => {
    const other = 'create_connected_account/create/created-again/status'
    const entries = ['list_tools/discovery/tools/status', 'list_tools/200/status', other, 'x/create/created/status']
    const file = await fileOf('others.yaml', entries.map((id) => `- { finding: ${id}, reason: other }\n`).join(''))
    const { stdout } = await against([...CREATE, '--accept', file], {}, statusOfCreate)
    expect([...stdout.matchAll(/(\S+)\/accepted /g)].map(([, id]) => id)).toEqual(['x/create/created/status'])
  })

  it.each([
    ['no list', 'finding: a', /accept-bad.yaml:1:1/],
    ['an unknown key', '- { finding: a, reason: b, class: c }', /accept-bad.yaml:1:\d+: .*unknown key/],
    ['no reason', '- { finding: a }', /reason/],
  ])('exits 2 for a file of --accept with %s', async (_what, text, message) => {
    const ended = await against([...CREATE, '--accept', await fileOf('accept-bad.yaml', text)])
    expect(ended.code).toBe(2)
    expect(ended.stderr).toMatch(message)
  })

  it('exits 3 and lists what it could not remove', async () => {
    const ended = await against(CREATE, {}, ({ around }) => {
      around('delete_connected_account', () => ({ status: 500, body: {} }))
    })
    expect(ended.code).toBe(3)
    expect(ended.stderr).toMatch(/could not be removed from http:\S+: ca_/)
  })

  it.each([
    ['no base URL', [], /needs --base-url/],
    ['a server that is not there', ['--base-url', 'http://127.0.0.1:9'], /gives no token: .*ECONNREFUSED/],
    ['an address that is not loopback', ['--base-url', 'https://service.example'], /--allow-outbound/],
    ['an operand', ['--base-url', 'http://127.0.0.1:9', 'list'], /takes no list/],
    ['a recording that is not there', ['--base-url', 'http://127.0.0.1:9', '--recording', 'none.har'], /none\.har/],
  ])('exits 2 with %s', async (_what, args, message) => {
    const ended = await command(args)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(message)
  })

  it.each([
    [{ TOOLMOCK_CLIENT_ID: '' }, 'drift needs --client-id, or TOOLMOCK_CLIENT_ID.'],
    [{ TOOLMOCK_CLIENT_SECRET: '' }, 'drift needs --client-secret, or TOOLMOCK_CLIENT_SECRET.'],
  ])('exits 2 with %j, and names what is missing', async (variables, message) => {
    const ended = await command(['--base-url', 'http://127.0.0.1:9'], variables)
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain(message)
  })

  it('exits 2 with wrong credentials', async () => {
    const ended = await against([...CREATE, '--client-secret', 'wrong'])
    expect(ended).toMatchObject({ code: 2 })
    expect(ended.stderr).toMatch(/gives no token/)
  })

  it('exits 2 where the service leads to another host, and names it', async () => {
    const moved: RequestListener = (_request, response) => {
      response.writeHead(301, { location: 'https://other.example/oauth/token' }).end()
    }
    const ended = await withServer(moved, (url) => command(['--base-url', url]))
    expect(ended.code).toBe(2)
    expect(ended.stderr).toMatch(/other\.example/)
  })

  it.each([
    ['not JSON', 'text', /is no HAR: it is not JSON$/],
    ['a HAR without entries', '{"log":{"version":"1.2"}}', /is no HAR: `log\.\w+` is required; allowed: /],
    ['a list', '[]', /is no HAR: the document is an empty list; allowed: an object/],
    [
      'a HAR without the service',
      '{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[]}}',
      /no request of the service/,
    ],
  ])('exits 2 with a recording that is %s', async (_what, text, message) => {
    const ended = await against(['--recording', await fileOf('bad.har', text)])
    expect(ended.code).toBe(2)
    expect(ended.stderr).toMatch(message)
  })

  it.each([
    ['junit', /<failure type="contract" message="create_connected_account/],
    ['sarif', /"ruleId": "drift-contract"/],
  ])('reports as %s', async (format, expected) => {
    const ended = await against([...CREATE, '--format', format], {}, statusOfCreate)
    expect(ended.stdout).toMatch(expected)
  })

  it('shows no secret that the service answers', async () => {
    const secret = 'canary-7f3a91c2d4'
    const ended = await against([...CREATE, '--only', 'auth/*', '--format', 'json'], {}, ({ reply }) => {
      reply((answer) => {
        const details = answer.body?.connected_account?.authorization_details
        if (details) details.oauth_token = { access_token: secret, refresh_token: secret, session: secret }
      })
    })
    expect(ended.code).toBe(1)
    expect(ended.stdout).not.toContain(secret)
  })
})

/** What a service does otherwise, the checks that ask, and each finding: its gap, and what fixes it. */
const CHOICES: readonly (readonly [what: string, service: AppOptions, checks: string[], fixes: string[]])[] = [
  [
    'settings: { revocation: final }',
    {},
    ['execute/shared-credentials'],
    ['mock G65 {"settings":{"revocation":"final"}}'],
  ],
  [
    'settings: { require_user_verification: true }',
    {},
    ['consent/without-verification', 'consent/active-stays'],
    ['mock States {"settings":{"require_user_verification":true}}'],
  ],
  [
    'settings: { auth_request_lifetime: 5m }',
    {},
    ['time/auth-request', 'time/auth-request-before'],
    ['mock G32 undefined'],
  ],
  [
    // Bearer tokens that end sooner are behind other differences too.
    'settings: { bearer_token_lifetime: 1h }',
    {},
    ['token/lifetime', 'time/token-refreshed', 'time/refresh-refused'],
    ['mock G13 {"settings":{"bearer_token_lifetime":"3600s"}}'],
  ],
  ['settings: { virtual_mcp: true }', {}, ['connections/*'], ['mock G67 {"settings":{"virtual_mcp":true}}']],
  [
    'settings: { virtual_mcp: true, mcp: { page_size: 2 } }',
    { mcp: true },
    ['mcp/instance-url'],
    ['mock G61 {"settings":{"virtual_mcp":true,"mcp":{"page_size":2}}}'],
  ],
  [
    // Its pages are seen once the mock has sessions too, for the same requests go to both.
    'settings: { virtual_mcp: true, mcp: { page_size: 2, sessions: true } }',
    { mcp: true },
    ['mcp/initialize'],
    ['mock G61 {"settings":{"virtual_mcp":true,"mcp":{"sessions":true}}}'],
  ],
  ['settings: {}', { strict: true }, ['errors/unknown-field'], ['mock G6 {"configuration":{"strict":true}}']],
  [
    'settings: {}',
    { bodyLimit: 16 * 1024 * 1024 },
    ['errors/too-large'],
    ['mock G7 {"configuration":{"body_limit":67108864}}'],
  ],
]

describe('a service with a choice of its own', () => {
  it.each(CHOICES)('%s, %j: the gap and what fixes it are named', async (seed, service, checks, expected) => {
    const only = checks.flatMap((check) => ['--only', check])
    const seeds = ['bundled', await fileOf('choice.yaml', seed)]
    const flags = ['--consent', 'control-api', '--format', 'json', ...(service.mcp === true ? ['--mcp'] : [])]
    const ended = await against([...only, ...flags], { ...service, seeds })
    const { findings } = JSON.parse(ended.stdout) as { findings: Pick<DriftFinding, 'class' | 'gap' | 'settings'>[] }
    const shown = findings.map(({ class: of, gap, settings }) => `${of} ${String(gap)} ${JSON.stringify(settings)}`)
    expect(shown).toEqual(expect.arrayContaining(expected))
    // Nothing of it is taken for a breach of the document.
    expect(ended.code).toBe(0)
  })
})

it('a recording is sent to the service and to the mock, each with its own ids and tokens', async () => {
  const app = await createApp({ idSeed: 3 })
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  await app.close()
  const entry = (method: string, path: string, sent: object | undefined, status: number, body: object) => ({
    ...{ startedDateTime: '2026-01-01T00:00:00Z', time: 1, cache: {}, timings: { send: 0, wait: 1, receive: 0 } },
    request: {
      ...{
        method,
        url: url + path,
        httpVersion: 'HTTP/1.1',
        cookies: [],
        queryString: [],
        headersSize: -1,
        bodySize: -1,
      },
      headers: [
        { name: 'Authorization', value: 'Bearer ***ab12' },
        { name: 'Content-Type', value: 'application/json' },
      ],
      ...(sent ? { postData: { mimeType: 'application/json', text: JSON.stringify(sent) } } : {}),
    },
    response: {
      ...{
        status,
        statusText: '',
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: [],
        redirectURL: '',
        headersSize: -1,
        bodySize: -1,
      },
      content: { size: 1, mimeType: 'application/json', text: JSON.stringify(body) },
    },
  })
  const name = { connector: 'mail', identifier: 'ada@drift.example' }
  const har = {
    log: {
      version: '1.2',
      creator: { name: 'test', version: '1' },
      entries: [
        entry('POST', '/api/v1/connected_accounts', name, 201, {
          connected_account: { id: 'ca_recorded0001', ...name },
        }),
        entry('GET', '/api/v1/connected_accounts/details?id=ca_recorded0001', undefined, 200, {}),
        entry('GET', '/api/v1/tools', undefined, 200, {}),
      ],
    },
  }
  const file = await fileOf('recording.har', JSON.stringify(har))
  const left = new Set<string>()
  const equal = await against(['--recording', file, '--format', 'json'], {}, ({ around }) => {
    around('create_connected_account', async (call, handler) => {
      const reply = await handler(call)
      left.add((reply.body as { connected_account: { id: string } }).connected_account.id)
      return reply
    })
    around('delete_connected_account', async (call, handler) => {
      left.delete(String(call.body['id']))
      return handler(call)
    })
  })
  expect(equal).toMatchObject({ code: 0 })
  // What it has created is gone, whatever its name is: the recording can be sent again.
  expect([...left]).toEqual([])
  const other = await against(['--recording', file, '--format', 'json'], { documentedOnly: true })
  expect(JSON.parse(other.stdout).findings).toMatchObject([
    { operation: 'list_tools', kind: 'status', settings: { configuration: { documented_only: true } } },
  ])
  const ended = await against(['--recording', file, '--format', 'json'], {}, ({ reply }) => {
    reply((answer, { path }) => {
      if (path.endsWith('/details')) delete answer.body.connected_account.updated_at
    })
  })
  expect(JSON.parse(ended.stdout).findings).toMatchObject([
    { id: 'get_connected_account_details/connected_account.updated_at/missing', class: 'contract' },
  ])
})
