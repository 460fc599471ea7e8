import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runProgram } from '../../../src/app/cli/program.ts'
import { addAccount, createEnvironment, openTestRegistry } from '../../support/registry.ts'

let folder = ''
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'toolmock-state-'))))
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []]
  const surroundings = { variables: {}, out: (line: string) => out.push(line), err: (line: string) => err.push(line) }
  const code = await runProgram(['state', ...argv], surroundings)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

async function sound(): Promise<string> {
  const file = join(folder, 'state.json')
  const registry = await openTestRegistry({ file })
  createEnvironment(registry, 'default')
  addAccount(registry)
  addAccount(registry)
  await registry.close()
  return file
}

describe('toolmock state', () => {
  it.each([
    ['check', 'postgres://user:geheim@127.0.0.1/x'],
    ['import', 'postgresql://user:geheim@127.0.0.1/x', '--out', 'postgres://user@127.0.0.1/y'],
  ])('%s refuses a database in place of a file, without its password', async (...argv) => {
    const { code, out, err } = await run(...argv)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`state ${argv[0]} takes a file, and this is a database: npx toolmock state export URL`)
    expect(err).not.toContain('geheim')
  })

  it('check exits 0 for a valid file, 1 for one that a start would refuse, 2 for a missing one', async () => {
    const file = await sound()
    expect(await run('check', file)).toEqual({
      code: 0,
      out: `${file}: a valid state file (1 environment, 2 accounts)`,
      err: '',
    })
    writeFileSync(file, '{}')
    const refused = await run('check', file)
    expect(refused).toMatchObject({ code: 1, err: '' })
    expect(refused.out).toContain('it is not a state file of toolmock')
    writeFileSync(file, '{"settings":{},"clock":{},"tables":{"accounts":[]}}')
    expect((await run('check', file)).out).toContain('send this one to PUT /_mock/state')
    expect(await run('check', join(folder, 'none.json'))).toMatchObject({ code: 2, out: '' })
  })

  it.each([
    [[], 'state needs an action'],
    [['chek', 'f'], 'Did you mean check?'],
    [['check'], 'takes one FILE'],
    [['check', 'a', 'b'], 'takes one FILE'],
    [['check', 'a', '--out', 'b'], '--out belongs to state export'],
    [['repair', 'a'], 'Actions are check, export, import'],
  ])('refuses %j and names its help', async (argv, message) => {
    const { code, err } = await run(...argv)
    expect(code).toBe(2)
    expect(err).toContain(message)
    expect(err).toContain('npx toolmock state --help')
  })
})
