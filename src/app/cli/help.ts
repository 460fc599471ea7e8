import { capitalise } from '../../model/domain/text.ts'
import { type Command, COMMAND_GROUPS, type CommandRow, type Flag, flagsOf, commandRow } from './command-table.ts'
import { type Terminal, wrapText } from '../../platform/terminal.ts'

export function programHelp(terminal: Terminal | undefined): string {
  const groups = Object.entries(COMMAND_GROUPS).map(([title, names]) => {
    const rows = names.map((name): Row => {
      const { operands = '', summary }: CommandRow = commandRow(name)
      return [`${name}${operands}`, summary]
    })
    return { title, rows }
  })
  const width = leftWidth(groups.flatMap(({ rows }) => rows))
  return [
    'toolmock: a local, stateful mock of an agent tool-access service.',
    '',
    'Usage: npx toolmock [COMMAND] [FLAG…]',
    ...groups.flatMap(({ title, rows }) => ['', `${title}:`, ...alignRows(rows, terminal, width)]),
    '',
    ...wrapText(FLAGS_TEXT, widthFor(terminal)),
  ].join('\n')
}

const FLAGS_TEXT =
  'npx toolmock COMMAND --help lists the flags of a command. The flags of start and run have variables: --log-level is TOOLMOCK_LOG_LEVEL; a flag wins over its variable.'

export function commandHelp(
  { name, operands = '', summary, example: [example, effect] }: Command,
  terminal: Terminal | undefined,
): string {
  const usage = `Usage: npx toolmock ${name} [FLAG…]${operands}`
  const about = wrapText(`${capitalise(summary)}.`, widthFor(terminal))
  const flags = flagsOf(name).map(flagRow)
  const exampleLines = [
    `  npx toolmock ${example}`,
    ...wrapText(effect, widthFor(terminal) - 4).map((line) => `    ${line}`),
  ]
  return [usage, '', ...about, '', 'Example:', ...exampleLines, '', 'Flags:', ...alignRows(flags, terminal)].join('\n')
}

type Row = readonly [left: string, right: string]

function flagRow(flag: Flag): Row {
  const details = [
    flag.kind.type === 'list' ? 'repeatable' : '',
    flag.default === undefined ? '' : `default ${defaultOf(flag)}`,
  ]
  const note = details.filter((detail) => detail !== '').join(', ')
  return [`${flag.short ? `-${flag.short}, ` : ''}${flagSpelling(flag)}`, `${flag.help}${note ? ` (${note})` : ''}`]
}

/** `--port N` */
export function flagSpelling(flag: Flag): string {
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

function leftWidth(rows: readonly Row[]): number {
  return Math.max(...rows.map(([left]) => left.length).filter((length) => length <= WIDEST_LEFT))
}

function alignRows(rows: readonly Row[], terminal: Terminal | undefined, width = leftWidth(rows)): string[] {
  const indent = `\n${' '.repeat(width + 4)}`
  const available = Math.max(widthFor(terminal) - width - 4, WIDEST_LEFT)
  return rows.map(([left, right]) => {
    const text = wrapText(right, available).join(indent)
    return left.length > width ? `  ${left}${indent}${text}` : `  ${left.padEnd(width)}  ${text}`
  })
}
