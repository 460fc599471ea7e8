import { StartError } from '../../model/domain/start-error.ts'
import { systemReason } from '../../model/domain/system-error.ts'
import { VERSION } from '../../model/version.ts'
import { namedConfiguration, ownWords, readArguments } from './arguments.ts'
import type { Terminal } from '../../platform/terminal.ts'
import type { CommandContext, Run } from './command.ts'
import { type Command, COMMAND_NAMES, type CommandName, COMMANDS, flagsOf } from './command-table.ts'
import { LOAD } from './commands.ts'
import { hintFor, reportFailure, UsageError } from './failure.ts'
import { findConfiguration } from './find-configuration.ts'
import { commandHelp, programHelp } from './help.ts'
import { LOCAL_PROGRAM, programName } from './own-program.ts'

/** Runs the command that `argv` names and answers its exit code; every failure has been reported by then. */
export async function runProgram(argv: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await dispatchCommand(argv, context)
  } catch (error) {
    return reportFailure(error, helpCommandFor(argv), context.err)
  }
}

async function dispatchCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const [first = '', ...others] = argv
  const isNamed = first !== '' && !first.startsWith('-')
  if (first === 'help') return printHelp(others[0], context)
  if (!isNamed && asksFor(argv, '--help', '-h')) return printHelp(undefined, context)
  const { name } = isNamed ? findCommand(first) : COMMANDS[0]
  const words = isNamed ? others : argv
  const ownArguments = ownWords(name, words)
  if (asksFor(ownArguments, '--version', '-v')) return print(VERSION, context)
  if (asksFor(ownArguments, '--help', '-h')) return printHelp(name, context)
  requireWorkingDirectory()
  // Each takes the arguments of the command with its name; the compiler cannot see it for a name that it does not know.
  const run = (await LOAD[name]()) as Run<CommandName>
  const readsConfiguration = flagsOf(name).some((flag) => flag.name === 'config')
  const { variables } = context
  const configurationPath = namedConfiguration(name, words, variables)
  const configuration = readsConfiguration ? await findConfiguration(configurationPath) : undefined
  const args = readArguments(name, words, { variables, configuration })
  // Written in another way, such as `-vh` or `--help=true`.
  if (args.values.version) return print(VERSION, context)
  if (args.values.help) return printHelp(name, context)
  return (await run(args, context)) ?? 0
}

/** Files are found from it, and what the commands load asks for it. @throws StartError when it was removed */
function requireWorkingDirectory(): void {
  try {
    process.cwd()
  } catch {
    throw new StartError('the working directory was removed; change to one that exists')
  }
}

/** Of a command, or of all of them. */
function printHelp(name: string | undefined, context: CommandContext): number {
  const { terminal } = context
  return print(name === undefined ? programHelp(terminal) : commandHelp(findCommand(name), terminal), context)
}

function findCommand(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (command) return command
  const allowed = `Commands are ${COMMAND_NAMES.join(', ')}.`
  throw new UsageError(`${name} is not a command. ${hintFor(name, COMMAND_NAMES, allowed)}`)
}

/** The command whose help explains what is wrong with `argv`. */
function helpCommandFor([first = '-']: readonly string[]): string {
  const name = first.startsWith('-') ? COMMANDS[0].name : first
  return COMMANDS.some((command) => command.name === name) ? `npx toolmock ${name} --help` : 'npx toolmock --help'
}

/** Help and version are answered even when other words on the line, up to a lone `--`, are wrong. */
function asksFor(argv: readonly string[], ...spellings: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => spellings.includes(word))
}

function print(text: string, { out }: CommandContext): number {
  out(text)
  return 0
}

/** Neither a reader that goes away (`toolmock | head -1`, a closed terminal) nor a full disk ends the server. */
export function processContext(): CommandContext {
  const { isTTY } = process.stderr
  const program = programName()
  const { write: err } = lineWriter(process.stderr, program)
  const { write: out, isOpen } = lineWriter(process.stdout, program, (reason) => {
    process.exitCode = NOT_WRITTEN
    err(`toolmock: the output cannot be written (${reason})`)
  })
  return {
    variables: process.env,
    out,
    err,
    isRead: isOpen,
    backlog: () => process.stdout.writableLength,
    terminal: terminalOf(process.stdout),
    errorTerminal: terminalOf(process.stderr),
    progress: isTTY ? showProgress : undefined,
  }
}

/** `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` are obeyed. */
function terminalOf(stream: NodeJS.WriteStream): Terminal | undefined {
  if (!stream.isTTY) return undefined
  return {
    get columns() {
      return columnsOf(stream)
    },
    isColoured: stream.hasColors(),
  }
}

/** A terminal without a size has 0 columns. */
function columnsOf({ columns }: Pick<NodeJS.WriteStream, 'columns'>): number {
  return columns || 80
}

/** Writes over the current line; cut, because a line that wraps could not be written over. */
function showProgress(line: string): void {
  process.stderr.write(`\r\x1b[K${line.slice(0, columnsOf(process.stderr) - 1)}`)
}

/** Exit code of a command whose output could not be written; the server goes on. */
const NOT_WRITTEN = 1

/** Bytes of lines that a pipe has not taken; more are dropped, because the pipe is not read. */
const MAX_UNREAD = 16 * 1024 * 1024

/** Tries every line: a disk that is full may take a later one. Calls `failed` for the first line that was lost. */
function lineWriter(stream: NodeJS.WriteStream, program: string, failed?: (reason: string) => void) {
  let isOpen = true
  let isWhole = true
  stream.on('error', (error: unknown) => {
    const reason = systemReason(error)
    if (['EPIPE', 'EIO'].includes(reason)) isOpen = false
    else if (isWhole) failed?.(reason)
    isWhole = false
  })
  const write = (line: string): void => {
    const text = program === LOCAL_PROGRAM ? line : line.replaceAll(LOCAL_PROGRAM, program)
    if (isOpen && stream.writableLength < MAX_UNREAD) stream.write(`${text}\n`)
  }
  return { write, isOpen: () => isOpen }
}
