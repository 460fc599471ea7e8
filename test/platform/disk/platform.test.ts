import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  browserCommand,
  canSyncDirectories,
  commandSignals,
  isSentToChildren,
  lockPipeOf,
  renameOver,
  spawnableCommand,
  stopSignals,
  terminalState,
} from '../../../src/platform/platform.ts'

it('the lock of a state file is a pipe for each file on Windows, and none elsewhere', () => {
  const pipe = lockPipeOf('state.json', 'win32')
  expect(pipe).toMatch(/^\\\\\.\\pipe\\toolmock-[0-9a-f]{32}$/)
  expect(lockPipeOf(join(process.cwd(), 'state.json'), 'win32')).toBe(pipe)
  expect(lockPipeOf('other.json', 'win32')).not.toBe(pipe)
  expect([lockPipeOf('state.json', 'linux'), lockPipeOf('state.json', 'darwin')]).toEqual([undefined, undefined])
})

it('a directory is not synced on Windows', () => {
  expect([canSyncDirectories('win32'), canSyncDirectories('darwin'), canSyncDirectories('linux')]).toEqual([
    false,
    true,
    true,
  ])
})

describe('a rename over a file that another program has open', () => {
  const failing = (times: number, code: string) => {
    const state = { calls: 0 }
    const move = () => {
      state.calls += 1
      return state.calls > times ? Promise.resolve() : Promise.reject(Object.assign(new Error(code), { code }))
    }
    return { state, move }
  }

  it('is tried again on Windows', async () => {
    const { state, move } = failing(2, 'EPERM')
    await renameOver('a', 'b', { platform: 'win32', move })
    expect(state.calls).toBe(3)
  })

  it.each([
    ['win32', 'ENOSPC', 1],
    ['linux', 'EPERM', 1],
    ['win32', 'EBUSY', 10],
  ] as const)('fails on %s with %s after %i tries', async (platform, code, calls) => {
    const { state, move } = failing(99, code)
    await expect(renameOver('a', 'b', { platform, move })).rejects.toThrow(code)
    expect(state.calls).toBe(calls)
  })

  it('replaces the file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolmock-rename-'))
    try {
      await writeFile(join(folder, 'a'), 'new')
      await writeFile(join(folder, 'b'), 'old')
      await renameOver(join(folder, 'a'), join(folder, 'b'))
      expect(await readFile(join(folder, 'b'), 'utf8')).toBe('new')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

it.each([
  ['linux', ['xdg-open']],
  ['darwin', ['open']],
  ['win32', ['rundll32', 'url.dll,FileProtocolHandler']],
] as const)('the browser is opened on %s by %j', (platform, command) => {
  expect(browserCommand(platform)).toEqual(command)
})

describe('signals', () => {
  it('that stop a server are those that the system has', () => {
    expect(stopSignals('linux')).toEqual(['SIGINT', 'SIGTERM'])
    expect(stopSignals('win32')).toEqual(['SIGINT', 'SIGBREAK', 'SIGHUP'])
    expect(commandSignals('darwin')).toContain('SIGUSR2')
    expect(commandSignals('win32')).toEqual(['SIGINT', 'SIGBREAK', 'SIGHUP'])
  })

  const STAT = (foreground: string) => `12 (a) b) S 1 12 1 34816 ${foreground} 4194304`
  it.each([
    ['SIGINT of a terminal in front', 'SIGINT', 'linux', '12', true],
    ['SIGINT of a terminal behind', 'SIGINT', 'linux', '99', false],
    ['SIGTERM', 'SIGTERM', 'linux', '12', false],
    ['SIGINT of a console', 'SIGINT', 'win32', '12', true],
    ['the end of a console', 'SIGHUP', 'win32', '12', true],
  ] as const)('%s: whether it has gone to children', (_, signal, platform, foreground, isSent) => {
    const now = terminalState(platform, () => STAT(foreground))
    expect(isSentToChildren(signal, now, { platform, now })).toBe(isSent)
  })

  it('SIGHUP has gone to children where the terminal has ended and this process does not lead its session', () => {
    const here = terminalState('linux', () => STAT('12'))
    const gone = terminalState('linux', () => STAT('-1').replace('34816', '0'))
    expect(isSentToChildren('SIGHUP', here, { platform: 'linux', now: gone })).toBe(true)
    expect(isSentToChildren('SIGHUP', here, { platform: 'linux', now: here })).toBe(false)
    expect(isSentToChildren('SIGHUP', undefined, { platform: 'darwin', now: undefined })).toBe(false)
  })

  it('know of a terminal only what Linux says', () => {
    const unreadable = (): never => {
      throw new Error('no /proc')
    }
    expect(terminalState('linux', () => STAT('12'))).toEqual({
      isPresent: true,
      isForeground: true,
      isSessionLeader: false,
    })
    expect([terminalState('linux', unreadable), terminalState('darwin', () => STAT('12'))]).toEqual([
      undefined,
      undefined,
    ])
  })
})

const WINDOWS = { Path: 'C:\\tools;C:\\node', PATHEXT: '.COM;.EXE;.BAT;.CMD', ComSpec: 'C:\\cmd.exe' }
const FILES = [
  'C:\\node\\node.EXE',
  'C:\\node\\npm',
  'C:\\node\\npm.CMD',
  'C:\\tools\\run.BAT',
  'C:\\app\\node_modules\\.bin\\vitest.CMD',
]
const on = (platform: NodeJS.Platform, ...line: [string, ...string[]]) =>
  spawnableCommand(line, WINDOWS, { platform, exists: (path) => FILES.includes(path) })

it('a command line is run as it is on Linux and macOS', () => {
  expect(on('linux', 'npm', 'test')).toEqual({ file: 'npm', args: ['test'] })
  expect(on('darwin', 'npm', 'test')).toEqual({ file: 'npm', args: ['test'] })
})

it('a command line: of a program is run without a shell on Windows', () => {
  expect(on('win32', 'node', '-e', 'a "b" & c')).toEqual({
    file: 'C:\\node\\node.EXE',
    args: ['-e', 'a "b" & c'],
  })
  expect(on('win32', 'C:\\node\\node.EXE')).toEqual({ file: 'C:\\node\\node.EXE', args: [] })
  expect(on('win32', 'nowhere')).toEqual({ file: 'nowhere', args: [] })
})

it('a command line: of npm is run by the shell on Windows', () => {
  expect(on('win32', 'npm', 'test')).toEqual({
    file: 'C:\\cmd.exe',
    args: ['/d', '/s', '/c', '"C:\\node\\npm.CMD ^"test^""'],
    windowsVerbatimArguments: true,
  })
  expect(on('win32', 'run').args.at(-1)).toBe('"C:\\tools\\run.BAT"')
})

it.each([['a b'], ['100%'], ['a&b|c>d'], ['say "hi"'], ['C:\\dir\\'], ['a\\"b'], [''], ['^!(x)']])(
  'a command line hands the argument %j on unchanged on Windows',
  (argument) => {
    const line = (program: string) => on('win32', program, argument, 'next').args.at(-1)!.slice(1, -1)
    expect(readByProgram(readByShell(line('npm')))).toEqual(['C:\\node\\npm.CMD', argument, 'next'])
    const shim = 'C:\\app\\node_modules\\.bin\\vitest'
    expect(readByProgram(readByShell(readByShell(line(shim))))).toEqual([`${shim}.CMD`, argument, 'next'])
  },
)

/** What cmd.exe makes of a line: ^ takes the meaning of the next character. */
function readByShell(line: string): string {
  expect(line.replaceAll(/\^./gs, ''), 'characters that the shell would act on').not.toMatch(/[&|<>"%]/)
  return line.replaceAll(/\^(.)/gs, '$1')
}

/** The arguments of a line as programs of Windows read them. */
function readByProgram(line: string): string[] {
  const found: string[] = []
  let [current, isQuoted, isOpen] = ['', false, false]
  for (const [whole, slashes = '', quote, other = ''] of line.matchAll(/(\\*)(?:(")|([^\\]|$))/g)) {
    if (whole === '') continue
    isOpen = true
    if (quote === undefined) current += slashes
    else {
      current += '\\'.repeat(Math.floor(slashes.length / 2))
      if (slashes.length % 2 === 1) current += '"'
      else isQuoted = !isQuoted
    }
    if (other === ' ' && !isQuoted) {
      found.push(current)
      ;[current, isOpen] = ['', false]
    } else current += other
  }
  return isOpen ? [...found, current] : found
}
