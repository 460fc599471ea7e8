import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createClient } from '@connectrpc/connect'
import { beforeAll, expect, it } from 'vitest'
import { ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { Account_AuthorizationType, ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { describeWith } from '../../support/machine.ts'
import { entriesOf, GOOGLE, PROTO, ROOT, run, TRANSPORTS, withRpc } from './fixture.ts'

const toolmock = ToolmockProcess.forThisFile()

/** Creates client packages of two languages. */
function createPackages(): void {
  const [es, python, empty] = [toolmock.path('es'), toolmock.path('python'), toolmock.path('empty')]
  for (const folder of [es, python, empty]) mkdirSync(folder)
  const files = ['acme/tools/v1/tools.proto', 'google/api/annotations.proto', 'google/api/http.proto']
  const plugin = `--plugin=protoc-gen-es=${join(ROOT, 'node_modules/.bin/protoc-gen-es')}`
  run('protoc', [`-I${PROTO}`, `-I${GOOGLE}`, plugin, `--es_out=${es}`, '--es_opt=target=js', ...files])
  run('protoc', [`-I${PROTO}`, `-I${GOOGLE}`, `--python_out=${python}`, ...files])
  // These files would fail if they were run.
  writeFileSync(join(es, 'broken.js'), 'process.exit(7) // fileDesc("Cg")\n')
  writeFileSync(join(python, 'broken.py'), 'raise SystemExit(7)\n')
}

describeWith('protoc', 'toolmock descriptors', () => {
  beforeAll(createPackages)

  it.each(['es', 'python'])('collects what a start serves out of a package of %s, without running it', async (name) => {
    const file = toolmock.path(`${name}.binpb`)
    const { code, stdout } = await toolmock.run(['descriptors', toolmock.path(name), '--out', file])
    expect(stdout).toMatch(/found acme\/tools\/v1\/tools\.proto in \S+tools_pb/)
    expect(stdout).toContain('gRPC, gRPC-Web and Connect serve 16 of 32 methods:')
    expect(stdout).toContain('    WORKSPACE_DWD: SUITE_DWD\n')
    expect(code).toBe(0)
    await withRpc({ descriptors: [file] }, async (mock) => {
      for (const transportOf of Object.values(TRANSPORTS)) {
        const accounts = createClient(ConnectedAccounts, transportOf(mock.url))
        await accounts.listAccounts({ pageSize: 5 }, { headers: mock.headers })
      }
      expect(entriesOf(mock).map(({ query }) => query)).toEqual(Object.keys(TRANSPORTS).map(() => ({ page_size: '5' })))
    })
  })

  it('writes the words that differ into a seed, keeps its other lines and comments, and the mock then uses them', async () => {
    const seed = toolmock.path('mine.yaml')
    writeFileSync(seed, '# my seed\nsettings:\n  consent: approve # always\n')
    const args = ['descriptors', toolmock.path('es'), '--out', toolmock.path('words.binpb'), '--seed', seed]
    const { stdout } = await toolmock.run(args)
    expect(stdout).toMatch(/wrote 3 words of settings\.vocabulary to \S+mine\.yaml\n$/)
    expect(readFileSync(seed, 'utf8')).toBe(
      '# my seed\nsettings:\n  consent: approve # always\n  vocabulary:\n    WORKSPACE_DWD: SUITE_DWD\n    OIDC: TYPE_OIDC\n    workspace_dwd: suite_dwd\n',
    )
    const twice = await toolmock.run(args)
    expect([twice.code, readFileSync(seed, 'utf8').match(/SUITE_DWD/g)?.length]).toEqual([0, 1])
    await withRpc({ seeds: ['bundled', seed] }, async (mock) => {
      const { headers } = mock
      const accounts = createClient(ConnectedAccounts, TRANSPORTS['grpc over HTTP/2'](mock.url))
      const made = await accounts.createAccount(
        {
          connector: 'workspace',
          identifier: 'ada@example.com',
          connectedAccount: {
            authorizationDetails: { details: { case: 'suiteDwd', value: { subject: 'ada@example.com' } } },
          },
        },
        { headers },
      )
      expect(made.connectedAccount?.authorizationType).toBe(Account_AuthorizationType.SUITE_DWD)
      const { id = '' } = made.connectedAccount ?? {}
      const { connectedAccount } = await accounts.getAuth({ id }, { headers })
      expect(connectedAccount?.authorizationDetails?.details).toMatchObject({
        case: 'suiteDwd',
        value: { subject: 'ada@example.com', accessToken: expect.stringMatching(/./) },
      })
      expect(mock.app.methodTable).not.toContain('SUITE_DWD')
    })
  })

  it('writes a seed that can be used when no word differs', async () => {
    const seed = toolmock.path('no-words.yaml')
    const file = toolmock.path('annotations.binpb')
    const folder = toolmock.path('es/google')
    const { code, stdout } = await toolmock.run(['descriptors', folder, '--out', file, '--seed', seed])
    expect(stdout).toMatch(/wrote 0 words of settings\.vocabulary to \S+no-words\.yaml\n$/)
    expect(code).toBe(0)
    expect(await toolmock.run(['validate', 'bundled', seed])).toMatchObject({ code: 0 })
  })

  it('writes a file that toolmock start accepts by flag or variable, and that lists what it serves after its first line', async () => {
    const file = toolmock.path('start.binpb')
    await toolmock.run(['descriptors', toolmock.path('es'), '--out', file])
    const serving = await toolmock.start(['--in-memory'], { TOOLMOCK_DESCRIPTORS: file })
    const { stdout } = await serving.stop()
    expect(stdout).toMatch(/^toolmock serves http:/)
    expect(stdout).toContain('\ngRPC, gRPC-Web and Connect serve 16 of 32 methods:\n')
    expect(stdout).toMatch(/WatchAccounts +it is a streaming method\n/)
    expect(stdout).toContain(
      'OAUTH, but TYPE_OAUTH: a vocabulary cannot fix it, because acme.tools.v1.Account.AuthorizationType has OAUTH\n',
    )
    const refused = await toolmock.run(['start', '--in-memory', '--descriptors', 'nowhere.binpb'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere.binpb cannot be read (ENOENT)') })
  })

  it('names the missing types, and writes no file', async () => {
    const folder = toolmock.path('part')
    const proto = toolmock.path('proto/acme/part/v1/part.proto')
    mkdirSync(dirname(proto), { recursive: true })
    mkdirSync(folder)
    cpSync(join(PROTO, 'acme/tools'), toolmock.path('proto/acme/tools'), { recursive: true })
    writeFileSync(
      proto,
      'syntax = "proto3";\npackage acme.part.v1;\nimport "acme/tools/v1/tools.proto";\nmessage Part { acme.tools.v1.Locator of = 1; }\n',
    )
    run('protoc', [`-I${toolmock.path('proto')}`, `-I${GOOGLE}`, `--python_out=${folder}`, proto])
    const file = toolmock.path('part.binpb')
    const { code, stdout } = await toolmock.run(['descriptors', folder, '--out', file])
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('missing acme.tools.v1.Locator, which acme/part/v1/part.proto uses'),
    ])
    expect(() => readFileSync(file)).toThrow('ENOENT')
    const both = await toolmock.run(['descriptors', folder, toolmock.path('python'), '--out', file])
    expect(both.code).toBe(0)
  })

  it('warns of packages that contradict each other, and not of two languages', async () => {
    const [folder, proto] = [toolmock.path('other'), toolmock.path('changed')]
    mkdirSync(folder)
    cpSync(join(PROTO, 'acme'), join(proto, 'acme'), { recursive: true })
    const file = join(proto, 'acme/tools/v1/tools.proto')
    writeFileSync(file, readFileSync(file, 'utf8').replace('message Locator {', 'message Locator { string more = 99;'))
    run('protoc', [`-I${proto}`, `-I${GOOGLE}`, `--python_out=${folder}`, file])
    const warnings = async (...folders: string[]) => {
      const { stdout } = await toolmock.run(['descriptors', ...folders, '--out', toolmock.path('both.binpb')])
      return stdout.split('\n').filter((line) => line.startsWith('warning'))
    }
    const [es, python] = [toolmock.path('es'), toolmock.path('python')]
    expect(await warnings(es, python)).toEqual([])
    const expected = ['warning: several files have acme/tools/v1/tools.proto, with different content']
    expect(await warnings(es, folder)).toEqual(expected)
  })

  it.each([
    [['descriptors'], /descriptors needs the folder of a generated client/],
    [['descriptors', 'x'], /descriptors needs --out FILE/],
    [['descriptors', 'nowhere', '--out', 'x.binpb'], /the folder nowhere cannot be read \(ENOENT\)/],
    [
      ['descriptors', 'empty', '--out', 'x.binpb'],
      /none of 0 files of JavaScript, TypeScript and Python has descriptors/,
    ],
  ])('refuses %j', async (args, message) => {
    expect(await toolmock.run(args)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
  })
})
