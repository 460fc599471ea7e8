import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToolmock } from '../../../src/index.ts'

const run = promisify(execFile)
type Output = Awaited<ReturnType<typeof run>>
const root = fileURLToPath(new URL('../../..', import.meta.url))
const spec = join(root, 'spec/openapi.yaml')

/** Strict, with the libraries checked as well. `exactOptionalPropertyTypes` is off: hey-api's own run time does not pass it. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    noEmit: true,
  },
  include: ['*.ts', 'generated'],
}

const STATUSES = {
  token: 200,
  created: 201,
  again: 409,
  link: 200,
  verified: 200,
  updated: 200,
  auth: 200,
  details: 200,
  listed: 200,
  found: 200,
  connections: 200,
  provider: 201,
  renamed: 200,
  removed: 200,
  executed: 200,
  tools: 200,
  scoped: 200,
  available: 200,
  providers: 200,
  deleted: 200,
  gone: 404,
}

/** Programs that know the mock by clients made from its spec alone. */
describe('clients that are generated from spec/openapi.yaml', () => {
  let [above, folder] = ['', '']

  beforeAll(async () => {
    above = await mkdtemp(join(tmpdir(), 'toolmock-clients-'))
    folder = join(above, 'clients')
    await cp(join(root, 'test/fixtures/generated-clients'), folder, { recursive: true })
    // The generators are packages of test/package.json, all others those of the project.
    await symlink(join(root, 'node_modules'), join(above, 'node_modules'))
    await symlink(join(root, 'test/node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    await writeFile(join(folder, 'generate.mjs'), GENERATE)
    await run(process.execPath, ['generate.mjs', spec], { cwd: folder })
  }, 120_000)

  afterAll(() => rm(above, { recursive: true, force: true }))

  it('compile in strict TypeScript', { timeout: 120_000 }, async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '--project', folder]).catch(
      (error: unknown) => error as Output,
    )
    expect(stdout).toBe('')
  })

  it.each(['openapi-fetch', 'hey-api', 'orval'])('call every operation: %s', { timeout: 60_000 }, async (name) => {
    await using mock = await createToolmock()
    const { stdout } = await run(process.execPath, ['--import', 'tsx', `${name}.ts`], {
      cwd: folder,
      env: { ...process.env, ...mock.env },
    })
    expect(JSON.parse(stdout)).toEqual({
      statuses: STATUSES,
      seen: { status: 'PENDING_AUTH', code: 'ACCOUNT_ALREADY_EXISTS', hasSecret: true, hasNames: true },
    })
    await mock.contract.verify()
  })
})

const GENERATE = `
import { execFileSync } from 'node:child_process'
import { createClient } from '@hey-api/openapi-ts'
import { generate } from 'orval'

const spec = process.argv[2]
await createClient({ input: spec, output: 'generated/hey-api', plugins: ['@hey-api/client-fetch'], logs: { level: 'silent' } })
await generate({ input: spec, output: { target: 'generated/orval/client.ts', client: 'fetch' } })
const cli = new URL('../node_modules/openapi-typescript/bin/cli.js', import.meta.url)
execFileSync(process.execPath, [cli.pathname, spec, '--output', 'generated/openapi-fetch/types.d.ts'], { stdio: 'ignore' })
`
