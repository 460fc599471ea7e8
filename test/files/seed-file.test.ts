import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/files/load.ts'
import { UnreadableFileError } from '../../src/files/problem.ts'
import { parseSeed } from '../../src/files/seed-files.ts'
import type { SeedBundle } from '../../src/model/domain/seed.ts'
import { messagesOf, withFiles } from './files.ts'
import { expectProblems, goldenCases } from './golden.ts'

const CONNECTORS = `
connectors:
  - { connector: notes, authorization_type: NO_AUTH }
  - { connector: mail, authorization_type: OAUTH, people: [ada@example.com] }
  - { connector: store, authorization_type: TRUSTED_IDP, cluster: provisioned }
`

describe('a seed file', () => {
  it('contains clients, settings, connectors, connections, providers, accounts and what to generate', async () => {
    const bundle = await seed(`
$schema: https://schemas.example/seed.json
clients: [{ client_id: c1, client_secret: s1 }, { client_id: 'ci-*', client_secret: s2 }]
settings: { bearer_token_lifetime: 10m, magic_link_lifetime: PT1H, consent: approve, require_user_verification: true }
${CONNECTORS}
connections: [{ key_id: sso, type: OIDC, provider: IDP_SIMULATOR, domains: [a.example] }]
providers: [{ identifier: acme-1, display_name: Acme, auth_patterns: [{ type: API_KEY }], metadata: { tier: 1 } }]
accounts:
  - connector: mail
    identifier: ada@example.com
    organization_id: org_1
    authorization_details: { oauth_token: { access_token: t, scopes: [mail.read] } }
    token_expires_at: 2026-03-01T10:00:00+01:00
  - { connector: acme-1, identifier: x, status: PENDING_AUTH, api_config: { __proto__: 1 } }
generate: { accounts: 5, connector: notes }
`)
    expect(bundle).toMatchObject({
      clients: [
        { id: 'c1', client_secret: 's1' },
        { id: 'ci-*', client_secret: 's2' },
      ],
      settings: {
        bearer_token_lifetime: 600_000,
        magic_link_lifetime: 3_600_000,
        consent: 'approve',
        require_user_verification: true,
      },
      connectors: [{ connector: 'notes' }, { connector: 'mail' }, { connector: 'store' }],
      connections: [{ key_id: 'sso', type: 'OIDC', provider: 'IDP_SIMULATOR', domains: ['a.example'] }],
      providers: [{ identifier: 'acme-1', display_name: 'Acme', metadata: { tier: '1' } }],
      generate: [{ accounts: 5, connector: 'notes', organization_id: '', user_id: '', status: 'ACTIVE' }],
    })
    expect(bundle.accounts[0]).toEqual({
      connector: 'mail',
      identifier: 'ada@example.com',
      organization_id: 'org_1',
      user_id: '',
      status: 'ACTIVE',
      api_config: {},
      authorization_details: { oauth_token: { access_token: 't', scopes: ['mail.read'] } },
      token_expires_at: '2026-03-01T09:00:00.000Z',
    })
    expect(JSON.stringify(bundle.accounts[1]?.api_config)).toBe('{"__proto__":1}')
  })

  it('is plain JSON once it is read', async () => {
    const bundle = await seed(`${CONNECTORS}accounts: [{ connector: mail, identifier: a }]`)
    expect(JSON.parse(JSON.stringify(bundle))).toStrictEqual(bundle)
  })

  it.each(goldenCases('seed'))('with %s is refused', async (_kind, text, problems) => {
    expectProblems(await messagesOf(seed(text)), problems)
  })

  it.each<[string, string, string]>([
    [
      'an account whose identifier has more than 1,000 characters',
      `${CONNECTORS}accounts: [{ connector: mail, identifier: ${'a'.repeat(1000)} }, { connector: mail, identifier: ${'a'.repeat(1001)} }]\n`,
      's.yaml:6:1078: `accounts[1].identifier` is "aaaaaaaa',
    ],
    [
      'a key of metadata that is too long',
      `providers: [{ display_name: A, metadata: { ${'k'.repeat(26)}: v } }]\n`,
      `s.yaml:1:44: \`providers[0].metadata.${'k'.repeat(26)}\` is a key of 26 characters`,
    ],
    [
      'a value of metadata that is too long',
      `providers: [{ display_name: A, metadata: { team: ${'v'.repeat(257)} } }]\n`,
      's.yaml:1:50: `providers[0].metadata.team` is a value of 257 characters',
    ],
    [
      'too many pairs of metadata',
      `providers: [{ display_name: A, metadata: { ${pairs(21)} } }]\n`,
      's.yaml:1:42: `providers[0].metadata` is an object of 21 pairs; allowed: at most 20 pairs',
    ],
  ])('with %s is refused', async (_kind, text, message) => {
    const messages = await messagesOf(seed(text))
    expect(messages.map((each) => each.slice(0, message.length))).toEqual([message])
  })
})

it.each([
  ['keys of 3 and 25 characters', `{ abc: v, ${'k'.repeat(25)}: v }`],
  ['values of 1 and 256 characters, of which some are of two units', `{ one: v, all: ${'😀'.repeat(256)} }`],
  ['20 pairs', `{ ${pairs(20)} }`],
])('a seed file at the limits of the service (part 8) is accepted with %s', async (_title, metadata) => {
  expect(await messagesOf(seed(`providers: [{ display_name: A, metadata: ${metadata} }]\n`))).toEqual([])
})

describe('loading seeds', () => {
  const notes = 'connector: notes\nauthorization_type: NO_AUTH\n'
  const files = (name: string): string => `connector: ${name}\nauthorization_type: NO_AUTH\n`

  it('reads every YAML and JSON file of a folder, connectors in the order of the list and then by file name', async () => {
    const tree = {
      'main.yaml': 'connectors: [zeta, alpha]\n',
      'other/more.yml': 'accounts: [{ connector: beta, identifier: a }]\n',
      'connectors/alpha.yaml': files('alpha'),
      'connectors/beta.json': JSON.stringify({ connector: 'beta', authorization_type: 'NO_AUTH' }),
      'connectors/deep/zeta.yaml': files('zeta'),
      'README.md': 'not: [a seed',
    }
    await withFiles(tree, async (folder) => {
      const bundle = await load(folder)
      expect(bundle.connectors.map((each) => each.connector)).toEqual(['zeta', 'alpha', 'beta'])
      expect(bundle.accounts).toHaveLength(1)
    })
  })

  it('follows links in a folder, and reads each file once', async () => {
    // As Kubernetes mounts a config map, beside links of a user's own.
    const tree = {
      '..2026_01_01/main.yaml': 'accounts: [{ connector: notes, identifier: a }]\n',
      '..2026_01_01/connectors/notes.yaml': files('notes'),
      'elsewhere/mail.yaml': files('mail'),
      'seeds/.hidden/broken.yaml': 'clients: 3\n',
    }
    await withFiles(tree, async (folder) => {
      const seeds = join(folder, 'seeds')
      for (const [name, target] of [
        ['..data', '../..2026_01_01'],
        ['main.yaml', '..data/main.yaml'],
        ['connectors', '..data/connectors'],
        ['mail.yaml', '../elsewhere/mail.yaml'],
        ['mail-again.yaml', 'mail.yaml'],
        ['connectors-again', 'connectors'],
        ['loop', '../seeds'],
        ['README', 'nowhere'],
      ] as const)
        await symlink(target, join(seeds, name))
      const bundle = await load(seeds)
      expect(bundle.connectors.map((each) => each.connector)).toEqual(['notes', 'mail'])
      expect(bundle.accounts).toHaveLength(1)
      await symlink('nowhere', join(seeds, 'gone.yaml'))
      await expect(load(seeds)).rejects.toEqual(
        new UnreadableFileError(join(seeds, 'gone.yaml'), 'there is no such file or folder'),
      )
    })
  })

  it('names the first file that cannot be read, whichever fails first', async () => {
    await withFiles({ 'b.yaml': 'clients: []\n' }, async (folder) => {
      await writeFile(join(folder, 'a.yaml'), Buffer.alloc(3_000_000, 0xff))
      await symlink('nowhere', join(folder, 'c.yaml'))
      await expect(load(folder)).rejects.toEqual(
        new UnreadableFileError(join(folder, 'a.yaml'), 'it is not UTF-8 text'),
      )
    })
  })

  it('keeps test_client when no seed brings a client, or only patterns', async () => {
    const tree = {
      'none.yaml': '{}',
      'pattern.yaml': 'clients: [{ client_id: "ci-*", client_secret: s }]',
      'own.yaml': 'clients: [{ client_id: c, client_secret: s }]',
    }
    await withFiles(tree, async (folder) => {
      const ids = async (name: string): Promise<string[]> =>
        (await load(join(folder, name))).clients.map(({ id }) => id)
      expect(await ids('none.yaml')).toEqual(['test_client'])
      expect(await ids('pattern.yaml')).toEqual(['test_client', 'ci-*'])
      expect(await ids('own.yaml')).toEqual(['c'])
    })
  })

  it('applies seeds in order: accounts may use connectors of another seed, and the later connector of a name wins', async () => {
    const tree = {
      'a.yaml': `${CONNECTORS}settings: { consent: deny, magic_link_lifetime: 1m }\n`,
      'b.yaml':
        'settings: { consent: approve }\nconnectors: [{ connector: notes, authorization_type: API_KEY }]\naccounts: [{ connector: store, identifier: x, authorization_details: { trusted_idp: { db_user: u } } }]\n',
    }
    await withFiles(tree, async (folder) => {
      const bundle = await load(join(folder, 'a.yaml'), join(folder, 'b.yaml'))
      expect(bundle.settings).toEqual({ consent: 'approve', magic_link_lifetime: 60_000 })
      expect(bundle.connectors.map((each) => `${each.connector} ${each.authorization_type}`)).toEqual([
        'notes API_KEY',
        'mail OAUTH',
        'store TRUSTED_IDP',
      ])
    })
  })

  it('adds a seed to the bundled one', async () => {
    await withFiles({ 'mine.yaml': 'accounts: [{ connector: mail, identifier: a }]\n' }, async (folder) => {
      const bundle = await load('bundled', join(folder, 'mine.yaml'))
      expect(bundle.connectors).toEqual((await load('bundled')).connectors)
      expect(bundle.accounts).toHaveLength(1)
    })
  })

  it('lists the problems of all files at once, and each mistake once', async () => {
    const tree = {
      'connectors/a.yaml': 'connector: a\nauthorization_type: NONE\n',
      'connectors/b.yaml': 'connector: b\ntools: 7\nauthorization_type: NO_AUTH\n',
      'connectors/b2.yaml': files('b'),
      'seed.yaml': 'connectors: [a, b]\naccounts: [{ connector: a, identifier: x }, { connector: c, identifier: x }]\n',
    }
    await withFiles(tree, async (folder) => {
      const messages = (await messagesOf(load(folder))).map((message) => message.slice(folder.length + 1))
      expect(messages.map((message) => message.split('; allowed')[0])).toEqual([
        'seed.yaml:2:58: `accounts[1].connector` is "c"',
        'connectors/a.yaml:2:21: `authorization_type` is "NONE"',
        'connectors/b.yaml:2:8: `tools` is 7',
        `connectors/b2.yaml:1:12: \`connector\` is "b", which ${join(folder, 'connectors/b.yaml')} describes already`,
      ])
    })
  })

  it('reports no account of a connector whose file is no YAML', async () => {
    const tree = {
      'connectors/a.yaml': 'connector: [',
      'seed.yaml': 'accounts: [{ connector: a, identifier: x }, { connector: c, identifier: x }]\n',
    }
    await withFiles(tree, async (folder) => {
      const messages = (await messagesOf(load(folder))).map((message) => message.slice(folder.length + 1))
      expect(messages.map((message) => message.split(/; allowed| \(/)[0])).toEqual([
        'connectors/a.yaml:1:13: the text is not YAML',
        'seed.yaml:1:58: `accounts[1].connector` is "c"',
      ])
    })
  })

  it('names a file or folder that cannot be read', async () => {
    await withFiles({ 'empty/note.txt': '', 'latin1.yaml': 'a' }, async (folder) => {
      const refusal = (path: string): Promise<unknown> => load(path).catch((error: unknown) => error)
      expect(await refusal(join(folder, 'nowhere.yaml'))).toEqual(
        new UnreadableFileError(join(folder, 'nowhere.yaml'), 'there is no such file or folder'),
      )
      expect(await refusal(join(folder, 'empty'))).toEqual(
        new UnreadableFileError(join(folder, 'empty'), 'the folder has no .yaml, .yml or .json file'),
      )
    })
  })

  it('reads a seed file with the connectors beside it, as it reads the folder', async () => {
    const tree = {
      'main.yaml': 'connectors: [zeta, alpha]\naccounts: [{ connector: beta, identifier: a }]\n',
      'connectors/alpha.yaml': files('alpha'),
      'connectors/deep/zeta.yaml': files('zeta'),
      'connectors/beta.json': JSON.stringify({ connector: 'beta', authorization_type: 'NO_AUTH' }),
      'connectors/README.md': 'not: [a connector',
    }
    await withFiles(tree, async (folder) => {
      const notes: string[] = []
      const note = (line: string): number => notes.push(line)
      const file = join(folder, 'main.yaml')
      const bundle = await loadSeeds([file], DOCUMENT_CHECKS, note)
      expect(bundle).toEqual(await loadSeeds([folder], DOCUMENT_CHECKS, note))
      expect(notes).toEqual([`${file}: 3 connectors came with it from the folder beside it: alpha, beta, zeta`])
      expect((await load(join(folder, 'connectors/alpha.yaml'))).connectors).toHaveLength(1)
    })
  })

  it('reads a connector file without the connectors beside it', async () => {
    await withFiles({ 'notes.yaml': notes, 'connectors/alpha.yaml': files('alpha') }, async (folder) => {
      expect((await load(join(folder, 'notes.yaml'))).connectors).toMatchObject([{ connector: 'notes' }])
    })
  })

  it('lists the problems of connectors beside a seed file, once for several seeds', async () => {
    const tree = { 'a.yaml': '{}', 'b.yaml': '{}', 'connectors/c.yaml': 'connector: c\nauthorization_type: NONE\n' }
    await withFiles(tree, async (folder) => {
      const messages = await messagesOf(load(join(folder, 'a.yaml'), join(folder, 'b.yaml')))
      expect(messages).toEqual([expect.stringContaining('connectors/c.yaml:2:21: `authorization_type` is "NONE"')])
    })
  })

  it('ignores the scenarios of a folder, reports that, and refuses a scenario file', async () => {
    const scenario = 'name: s\nrules: []\n'
    await withFiles(
      { 'seed.yaml': '{}', 'misspelt.yaml': 'acounts: []', 'scenarios/s.yaml': scenario },
      async (folder) => {
        const notes: string[] = []
        await loadSeeds([folder], DOCUMENT_CHECKS, (line) => notes.push(line))
        const file = join(folder, 'scenarios/s.yaml')
        const other = join(folder, 'misspelt.yaml')
        expect(notes).toEqual([
          `1 file left out, which has no top-level key of a file of the mock: ${other}`,
          `${file} is a scenario and was not started: --scenario starts it`,
        ])
        expect(await messagesOf(load(file))).toEqual([
          `${file}:1:1: the document is a scenario; allowed: seeds and connectors (scenarios start with --scenario)`,
        ])
      },
    )
  })

  it('refuses an account at a connector that only serves custom providers', async () => {
    const custom = 'connectors: [{ connector: cp, custom_provider: Acme }]\n'
    const at = 'accounts: [{ connector: cp, identifier: a }]\n'
    expect(await messagesOf(seed(custom + at))).toEqual([
      's.yaml:2:25: `accounts[0].connector` is "cp"; allowed: a connector that there is (there is none; --seed bundled, or `seed: [bundled, …]` in the configuration file, adds the bundled ones)',
    ])
    const before = 'connectors: [{ connector: cp, authorization_type: NO_AUTH }]\n'
    await withFiles({ 'a.yaml': before + at, 'b.yaml': custom }, async (folder) => {
      expect(await messagesOf(load(join(folder, 'a.yaml'), join(folder, 'b.yaml')))).toEqual([
        expect.stringContaining('a.yaml:2:25: `accounts[0].connector` is "cp"'),
      ])
    })
  })

  it('refuses the id of an account that another file gives to another account', async () => {
    const account = (identifier: string): string =>
      `accounts: [{ connector: notes, identifier: ${identifier}, id: ca_1 }]\n`
    const tree = { 'a.yaml': account('x'), 'b.yaml': account('x'), 'c.yaml': account('y'), 'connectors/n.yaml': notes }
    await withFiles(tree, async (folder) => {
      const [a, b, c] = ['a.yaml', 'b.yaml', 'c.yaml'].map((name) => join(folder, name)) as [string, string, string]
      expect(await messagesOf(load(a, b))).toEqual([])
      expect(await messagesOf(load(a, c))).toEqual([
        `${c}:1:51: \`accounts[0].id\` is "ca_1", the id of another account in ${a}; allowed: an id that no other account has`,
      ])
    })
  })

  it('accepts a single connector file as a seed', async () => {
    await withFiles({ 'notes.yaml': notes }, async (folder) => {
      expect((await load(join(folder, 'notes.yaml'))).connectors).toHaveLength(1)
    })
  })
})

function pairs(count: number): string {
  return Array.from({ length: count }, (_, at) => `key_${at}: v`).join(', ')
}

function seed(text: string): Promise<SeedBundle> {
  return parseSeed({ file: 's.yaml', text }, DOCUMENT_CHECKS, new Map())
}

function load(...paths: string[]): Promise<SeedBundle> {
  return loadSeeds(paths, DOCUMENT_CHECKS)
}
