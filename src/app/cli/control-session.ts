import { jsonText, parseJson } from '../../model/domain/json.ts'
import type { Readable } from 'node:stream'
import { StartError } from '../../model/domain/start-error.ts'
import { systemCode } from '../../model/domain/system-error.ts'
import { HttpClient } from '../../platform/http-client.ts'
import { ControlClient, type Server } from '../library/control-client.ts'
import { ToolmockError } from '../library/toolmock-error.ts'
import type { JournalEntry } from '../library/types.ts'
import type { Arguments } from './arguments.ts'
import type { CommandContext, Run } from './command.ts'
import { hintFor, RefusedError, UsageError } from './failure.ts'
import type { ControlCommandName } from './command-table.ts'
import { adminHeaders, adminTokenText, notResponding, serverOf } from './running-server.ts'
import { type Column, tableText } from './table.ts'

const TIMEOUT_MS = 30_000

/** A command that calls the control API of a running server: what it was given, and how it asks and prints. */
export interface ControlSession<Name extends ControlCommandName> extends CommandContext, Arguments<Name> {
  /** @throws RefusedError with the server's message; StartError when no toolmock answers */
  readonly call: ControlClient['call']
  /** Each new entry of the request journal, until the server ends the stream. It is open once this resolves. */
  readonly events: () => Promise<AsyncIterable<JournalEntry>>
  /** As JSON the whole answer. */
  readonly print: (response: unknown, text: () => string) => void
  /** The same with rows under their titles, between other texts, or with a sentence where there are none. */
  readonly printTable: <Row>(table: PrintedTable<Row>, columns: readonly Column<Row>[]) => void
}

interface PrintedTable<Row> {
  readonly response: unknown
  readonly rows: readonly Row[]
  readonly empty?: string
  readonly before?: string
  readonly after?: string
}

/** Nothing is sent yet. */
export function controlSession<Name extends ControlCommandName>(
  args: Arguments<Name>,
  context: CommandContext,
): ControlSession<Name> {
  // Every control command has these flags; the compiler cannot see it for a name that it does not know yet.
  const common = args as Arguments<ControlCommandName>
  const { json, environment } = common.values
  const server = serverOf(common)
  const call = controlCall(server, environment)
  const events = async (): Promise<AsyncIterable<JournalEntry>> => {
    // A call that is refused says why; the stream that follows then only has to be read.
    await call('GET /clock')
    const path = `/_mock/events?environment=${encodeURIComponent(environment.toWellFormed())}`
    const client = new HttpClient(server.url, { ca: server.ca })
    const stream = await client.open({ method: 'GET', path, headers: adminHeaders(server) }).catch((error: unknown) => {
      throw notResponding(server.url, error)
    })
    return streamedEntries(stream)
  }
  const print = (response: unknown, text: () => string): void => context.out(json ? jsonText(response, 2) : text())
  const printTable: ControlSession<Name>['printTable'] = (
    { response, rows, empty, before = '', after = '' },
    columns,
  ) => {
    const table = (): string => `${before}${tableText(columns, rows, context.terminal)}${after}`
    print(response, () => (rows.length === 0 ? (empty ?? table()) : table()))
  }
  return { ...context, ...args, call, events, print, printTable }
}

/** An action of a command, with what follows its name; `what` is the command with that name. */
export type CommandAction = (operands: readonly string[], what: string) => Promise<void>

/** A command with actions, of which the first one runs when none is named. */
export function actionCommand<Name extends ControlCommandName>(
  command: Name,
  actionsOf: (session: ControlSession<Name>) => Readonly<Record<string, CommandAction>>,
): Run<Name> {
  return async (args, context) => {
    const session = controlSession(args, context)
    const actions = actionsOf(session)
    const [first = ''] = Object.keys(actions)
    const [name = first, ...operands] = session.operands
    await chosenAction(command, name, actions)(operands, `${command} ${name}`)
  }
}

/** Calls of the control API whose failures are for the user of a command. */
export function controlCall(server: Server, environment: string): ControlClient['call'] {
  const client = new ControlClient({ ...server, timeoutMs: TIMEOUT_MS }, environment)
  return async (route, input) => {
    try {
      return await client.call(route, input)
    } catch (error) {
      throw sessionFailure(error, server)
    }
  }
}

/** The entries in a stream of server-sent events. A connection that breaks is its end. */
async function* streamedEntries(stream: Readable): AsyncIterable<JournalEntry> {
  let unread = ''
  try {
    for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
      const events = `${unread}${text}`.split('\n\n')
      unread = events.pop() ?? ''
      yield* events.flatMap(entryIn)
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error
  }
}

function entryIn(event: string): JournalEntry[] {
  const data = /^event: entry\n(?:.*\n)?data: (.*)$/.exec(event)?.[1]
  return data === undefined ? [] : [parseJson(data) as unknown as JournalEntry]
}

function sessionFailure(error: unknown, server: Server): unknown {
  if (!(error instanceof ToolmockError)) return error
  const { code, message, cause, status } = error
  if (code === 'UNREACHABLE') return notResponding(server.url, cause)
  if (status === 401) return new StartError(`${server.url} ${adminTokenText(server)}`)
  // A 400 says what is wrong with an argument; every other refusal is about what the server holds.
  return code === 'NO_TOOLMOCK' || status === 400 ? new StartError(message) : new RefusedError(message)
}

export function chosenAction<Action>(command: string, name: string, actions: Readonly<Record<string, Action>>): Action {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action !== undefined) return action
  const names = Object.keys(actions)
  throw new UsageError(`${command} ${name} is not known. ${hintFor(name, names, `Actions are ${names.join(', ')}.`)}`)
}

export function oneOperand(action: string, what: string, operands: readonly string[]): string {
  const [operand, ...more] = operands
  if (operand === undefined || operand === '' || more.length > 0) throw new UsageError(`${action} takes one ${what}.`)
  return operand
}
