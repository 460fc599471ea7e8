import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { resolve, win32 } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/* Nothing else asks for the operating system. Functions take the platform, so that one machine tests every branch. */

type Platform = NodeJS.Platform

/** The name of the pipe that locks a state file on Windows; undefined elsewhere, where a socket beside the file does. */
export function lockPipeOf(file: string, platform: Platform = process.platform): string | undefined {
  if (platform !== 'win32') return undefined
  const digest = createHash('sha256').update(resolve(file)).digest('hex').slice(0, 32)
  return `\\\\.\\pipe\\toolmock-${digest}`
}

/** Windows cannot open a directory, and needs no sync of one. */
export function canSyncDirectories(platform: Platform = process.platform): boolean {
  return platform !== 'win32'
}

const MOST_RENAMES = 10

/** On Windows this fails while another program, such as a virus scanner, has the file open, and is tried again. */
export async function renameOver(
  from: string,
  to: string,
  { platform = process.platform, move = rename }: { platform?: Platform; move?: typeof rename } = {},
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await move(from, to)
      return
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (platform !== 'win32' || attempt === MOST_RENAMES || !/^(EPERM|EACCES|EBUSY)$/.test(code)) throw error
      await pause(attempt * 10)
    }
  }
}

/** The program that opens a URL, and its arguments before it. */
export function browserCommand(platform: Platform = process.platform): [string, ...string[]] {
  if (platform === 'darwin') return ['open']
  // `start` would take an & of the URL for the end of the command.
  return platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open']
}

/** Signals that ask a server to stop. Windows has no SIGTERM that a process could see; closing the console is SIGHUP there. */
export function stopSignals(platform: Platform = process.platform): readonly NodeJS.Signals[] {
  return platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM']
}

/** Signals that the parent of a command receives and leaves to the command. */
export function commandSignals(platform: Platform = process.platform): readonly NodeJS.Signals[] {
  if (platform === 'win32') return stopSignals(platform)
  return ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']
}

/** Whether a command can have a process group of its own, with all that it starts. */
export function hasProcessGroups(platform: Platform = process.platform): boolean {
  return platform !== 'win32'
}

export interface ControllingTerminal {
  readonly isPresent: boolean
  readonly isForeground: boolean
  readonly isSessionLeader: boolean
}

/** The terminal of this process as Linux describes it; undefined on other systems. */
export function terminalState(
  platform: Platform = process.platform,
  read = () => readFileSync('/proc/self/stat', 'latin1'),
): ControllingTerminal | undefined {
  if (platform !== 'linux') return undefined
  try {
    // The name of the program is in parentheses, and may hold any characters.
    const [, fields = ''] = /^.*\) (.*)$/s.exec(read()) ?? []
    const [, , group, session, device, foreground] = fields.split(' ')
    return {
      isPresent: device !== '0',
      isForeground: group === foreground,
      isSessionLeader: session === String(process.pid),
    }
  } catch {
    return undefined
  }
}

/**
 * Whether a signal has gone to the children of this process too. A terminal sends Ctrl-C and Ctrl-\ to its whole foreground
 * group, and SIGHUP, when it ends, to all but the session leader; the console of Windows sends all that it has to all of its
 * processes. `before` is the terminal at the start.
 */
export function isSentToChildren(
  signal: NodeJS.Signals,
  before: ControllingTerminal | undefined,
  {
    platform = process.platform,
    now = terminalState(platform),
  }: { platform?: Platform; now?: ControllingTerminal | undefined } = {},
): boolean {
  if (platform === 'win32') return true
  if (signal === 'SIGINT' || signal === 'SIGQUIT') return now ? now.isForeground : process.stderr.isTTY
  return signal === 'SIGHUP' && before?.isPresent === true && now?.isPresent === false && !now.isSessionLeader
}

/** What `spawn` takes. */
export interface Spawnable {
  readonly file: string
  readonly args: readonly string[]
  readonly windowsVerbatimArguments?: true
}

/** On Windows npm, npx and programs of packages are `.cmd` files, which only a shell runs: characters are escaped. */
export function spawnableCommand(
  [program, ...args]: readonly [string, ...string[]],
  variables: Readonly<Record<string, string | undefined>>,
  {
    platform = process.platform,
    exists = existsSync,
  }: { platform?: Platform; exists?: (path: string) => boolean } = {},
): Spawnable {
  const file = platform === 'win32' ? windowsProgram(program, variables, exists) : undefined
  if (file === undefined || !/\.(?:cmd|bat)$/i.test(file)) return { file: file ?? program, args }
  // What a package installs hands its arguments to a second shell.
  const times = /[\\/]node_modules[\\/]\.bin[\\/]/.test(file) ? 2 : 1
  const line = [escapeText(file, 1), ...args.map((arg) => escapeText(quoteArgument(arg), times))].join(' ')
  const shell = valueIgnoringCase(variables, 'COMSPEC') ?? 'cmd.exe'
  return { file: shell, args: ['/d', '/s', '/c', `"${line}"`], windowsVerbatimArguments: true }
}

function windowsProgram(
  program: string,
  variables: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): string | undefined {
  const extensions = (valueIgnoringCase(variables, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';')
  const endings = win32.extname(program) === '' ? extensions : ['', ...extensions]
  const folders = /[\\/]/.test(program) ? [''] : ['.', ...(valueIgnoringCase(variables, 'PATH') ?? '').split(';')]
  const candidates = folders.flatMap((folder) => endings.map((ending) => win32.join(folder, `${program}${ending}`)))
  return candidates.find(exists)
}

/** Names of variables have no case on Windows. */
function valueIgnoringCase(variables: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.entries(variables).find(([key]) => key.toUpperCase() === name)?.[1]
}

/** As programs of Windows read their arguments: a backslash is one unless quotes follow. */
function quoteArgument(arg: string): string {
  return `"${arg.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\*)$/, '$1$1')}"`
}

function escapeText(text: string, times: number): string {
  return times === 0 ? text : escapeText(text.replaceAll(/[()\][%!^"`<>&|;, *?]/g, '^$&'), times - 1)
}
