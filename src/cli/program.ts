import { nearest } from '../domain/suggestion.ts'
import { VERSION } from '../version.ts'
import { firstOperand, readArguments } from './arguments.ts'
import type { Command, Surroundings } from './command.ts'
import { COMMANDS } from './commands.ts'
import { reportFailure } from './failure.ts'
import { COMMON_FLAGS } from './flags.ts'
import { commandHelp, programHelp } from './help.ts'
import { UsageError } from './usage-error.ts'

/** Runs the command that `argv` names and answers its exit code; every failure has been reported by then. */
export async function program(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await dispatch(argv, surroundings)
  } catch (error) {
    return reportFailure(error, helpFor(argv), surroundings.err)
  }
}

async function dispatch(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const [first = '', ...others] = argv
  const named = first !== '' && !first.startsWith('-')
  if (first === 'help') return help(others, surroundings)
  if (!named && asks(argv, 'help')) return help([], surroundings)
  const command = named ? find(first) : COMMANDS[0]
  const rest = named ? others : argv
  const flags = command.wraps ? beforeOperands(rest, command) : rest
  if (asks(flags, 'version')) return print(VERSION, surroundings)
  if (asks(flags, 'help')) return print(commandHelp(command), surroundings)
  const run = await command.load()
  return run(rest, surroundings)
}

function help([name]: readonly string[], surroundings: Surroundings): number {
  return print(name === undefined ? programHelp(COMMANDS) : commandHelp(find(name)), surroundings)
}

function find(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (command) return command
  const names = COMMANDS.map((candidate) => candidate.name)
  const meant = nearest(name, names)
  throw new UsageError(
    `${name} is no command. ${meant === undefined ? `Commands are ${names.join(', ')}.` : `Did you mean ${meant}?`}`,
  )
}

/** The command whose help explains what is wrong with `argv`. */
function helpFor([first = '-']: readonly string[]): string {
  const name = first.startsWith('-') ? COMMANDS[0].name : first
  return COMMANDS.some((command) => command.name === name) ? `toolmock ${name} --help` : 'toolmock --help'
}

/** Help and version are answered whatever else is on the line, right or wrong, up to a lone `--`. */
function asks(argv: readonly string[], name: (typeof COMMON_FLAGS)[number]['name']): boolean {
  const end = argv.indexOf('--')
  const flags = (end === -1 ? argv : argv.slice(0, end)).filter((word) => /^(--help|-h|--version|-v)$/.test(word))
  return readArguments(COMMON_FLAGS, flags, {}).values[name]
}

function beforeOperands(argv: readonly string[], { flags }: Command): readonly string[] {
  const operand = firstOperand(argv, flags)
  return operand === -1 ? argv : argv.slice(0, operand)
}

function print(text: string, { out }: Surroundings): number {
  out(text)
  return 0
}
