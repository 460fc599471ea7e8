import type { Command } from './command.ts'
import { type Flag, flagsOf, variableOf } from './flags.ts'

/** The help text of the whole program. */
export function programHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, operands, summary }): Row => [`${name}${operands}`, summary])
  return [
    'toolmock: a local, stateful mock of an agent tool-access service.',
    '',
    'Usage: toolmock [COMMAND] [FLAG…]',
    '',
    'Commands:',
    ...columns(rows),
    '',
    'toolmock COMMAND --help lists the flags of a command. Every flag has a variable: --log-level is TOOLMOCK_LOG_LEVEL;',
    'a flag wins over its variable.',
  ].join('\n')
}

/** The help text of one command. */
export function commandHelp({ name, operands, summary }: Command): string {
  const usage = `Usage: toolmock ${name} [FLAG…]${operands}`
  return [usage, '', sentence(summary), '', 'Flags:', ...columns(flagsOf(name).map(flagRow))].join('\n')
}

/** The commands as a Markdown table, for `docs/commands.md`. */
export function commandTable(commands: readonly Command[]): string {
  const rows = commands.map(({ name, operands, summary }) => tableRow(`\`toolmock ${name}${operands}\``, summary))
  return ['| command | does |', '|---|---|', ...rows].join('\n')
}

/** The flags as a Markdown table, for `docs/commands.md`. */
export function flagTable(flags: readonly Flag[]): string {
  const rows = flags.map((flag) => {
    const variable = variableOf(flag)
    return tableRow(`\`${spelling(flag)}\``, variable ? `\`${variable}\`` : '', defaultOf(flag), flag.help)
  })
  return ['| flag | variable | default | what it does |', '|---|---|---|---|', ...rows].join('\n')
}

/** A bar ends its cell, in a code span too. */
function tableRow(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
}

type Row = readonly [left: string, right: string]

function flagRow(flag: Flag): Row {
  const details = [
    flag.kind.type === 'list' ? 'repeatable' : '',
    flag.default === undefined ? '' : `default ${defaultOf(flag)}`,
  ]
  const shown = details.filter((detail) => detail !== '').join(', ')
  return [`${flag.short ? `-${flag.short}, ` : ''}${spelling(flag)}`, `${flag.help}${shown ? ` (${shown})` : ''}`]
}

function spelling(flag: Flag): string {
  return `--${flag.name}${flag.placeholder ? ` ${flag.placeholder}` : ''}`
}

function defaultOf(flag: Flag): string {
  if (flag.kind.type === 'switch') return flag.variable ? 'off' : ''
  return String(flag.default ?? '')
}

function columns(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
