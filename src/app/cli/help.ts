import { capitalise } from '../../model/domain/text.ts'
import { type Command, COMMANDS, type Flag, flagsOf } from './command-table.ts'
import { type Terminal, wrap } from '../../platform/terminal.ts'

export function programHelp(terminal: Terminal | undefined): string {
  const rows = COMMANDS.map(({ name, operands = '', summary }): Row => [`${name}${operands}`, summary])
  return [
    'toolmock: a local, stateful mock of an agent tool-access service.',
    '',
    'Usage: npx toolmock [COMMAND] [FLAG…]',
    '',
    'Commands:',
    ...columns(rows, terminal),
    '',
    ...wrap(FLAGS_TEXT, widthFor(terminal)),
  ].join('\n')
}

const FLAGS_TEXT =
  'npx toolmock COMMAND --help lists the flags of a command. The flags of start and run have variables: --log-level is TOOLMOCK_LOG_LEVEL; a flag wins over its variable.'

export function commandHelp({ name, operands = '', summary }: Command, terminal: Terminal | undefined): string {
  const usage = `Usage: npx toolmock ${name} [FLAG…]${operands}`
  const about = wrap(`${capitalise(summary)}.`, widthFor(terminal))
  return [usage, '', ...about, '', 'Flags:', ...columns(flagsOf(name).map(flagRow), terminal)].join('\n')
}

type Row = readonly [left: string, right: string]

function flagRow(flag: Flag): Row {
  const details = [
    flag.kind.type === 'list' ? 'repeatable' : '',
    flag.default === undefined ? '' : `default ${defaultOf(flag)}`,
  ]
  const note = details.filter((detail) => detail !== '').join(', ')
  return [`${flag.short ? `-${flag.short}, ` : ''}${spelling(flag)}`, `${flag.help}${note ? ` (${note})` : ''}`]
}

/** `--port N` */
export function spelling(flag: Flag): string {
  return `--${flag.name}${flag.placeholder ? ` ${flag.placeholder}` : ''}`
}

export function defaultOf(flag: Flag): string {
  if (flag.kind.type === 'switch') return flag.variable ? 'off' : ''
  return String(flag.default ?? '')
}

/** Help that is piped is read in a pager, or pasted. */
function widthFor(terminal: Terminal | undefined): number {
  return terminal?.columns ?? 80
}

/** A long left side has a line of its own, and the right side goes on below itself. */
const WIDEST_LEFT = 24

function columns(rows: readonly Row[], terminal: Terminal | undefined): string[] {
  const width = Math.max(...rows.map(([left]) => left.length).filter((length) => length <= WIDEST_LEFT))
  const indent = `\n${' '.repeat(width + 4)}`
  const available = Math.max(widthFor(terminal) - width - 4, WIDEST_LEFT)
  return rows.map(([left, right]) => {
    const text = wrap(right, available).join(indent)
    return left.length > width ? `  ${left}${indent}${text}` : `  ${left.padEnd(width)}  ${text}`
  })
}
