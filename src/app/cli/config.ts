import { isDatabaseUrl } from '../options.ts'
import { settingOf } from './arguments.ts'
import type { Run } from './command.ts'
import { configurationKey } from './configuration.ts'
import { settingFlags, variableOf } from './command-table.ts'
import { tableText } from './table.ts'

const SECRET = ['admin-token', 'client-secret']

export const config: Run<'config'> = ({ values, configuration }, { variables, out, terminal }) => {
  const rows = settingFlags()
    .filter(({ name }) => name !== 'config')
    .map((flag) => {
      const { value, origin } = settingOf(flag, { variables, configuration })
      const from = origin === 'variable' ? variableOf(flag) : origin === 'file' ? configuration?.file : 'default'
      return { key: configurationKey(flag), value: isSecret(flag.name, value) ? '***' : value, from }
    })
  const names = configuration?.webhooks.map(({ id }) => id) ?? []
  if (names.length > 0) rows.push({ key: 'webhooks', value: names.join(', '), from: configuration?.file })
  if (values.json) out(JSON.stringify({ file: configuration?.file ?? null, settings: rows }, null, 2))
  else {
    out(configuration ? `configuration file: ${configuration.file}` : 'no configuration file')
    const columns = [
      { title: 'setting', cell: ({ key }: (typeof rows)[number]) => key },
      { title: 'value', wraps: true as const, cell: ({ value = '-' }: (typeof rows)[number]) => String(value) },
      { title: 'from', cell: ({ from = '' }: (typeof rows)[number]) => from },
    ]
    out(tableText(columns, rows, terminal))
  }
}

/** The URL of a database has a password. */
function isSecret(name: string, value: unknown): boolean {
  return (value !== undefined && SECRET.includes(name)) || (typeof value === 'string' && isDatabaseUrl(value))
}
