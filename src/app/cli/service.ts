import type { ClientCredentials } from '../../compare/conform/target.ts'
import { BASE_URL_RULE, isBaseUrl } from '../../model/domain/base-url.ts'
import { maskUrl } from '../../model/domain/masking.ts'
import type { CommandContext } from './command.ts'
import { UsageError } from './failure.ts'
import type { FlagValues } from './command-table.ts'

/** The service that is asked, and the client credentials. `start` and `run` provide all three as variables. @throws UsageError */
export function serviceOf(
  command: 'conform' | 'drift',
  { variables }: Pick<CommandContext, 'variables'>,
  values: Pick<FlagValues<'conform'>, 'base-url' | 'client-id' | 'client-secret'>,
): { readonly baseUrl: string; readonly client: ClientCredentials } {
  const baseUrl = values['base-url'] ?? (variables['TOOLMOCK_URL'] || undefined)
  const { 'client-id': id, 'client-secret': secret } = values
  if (baseUrl === undefined) throw new UsageError(`${command} needs --base-url, or TOOLMOCK_URL.`)
  if (!isBaseUrl(baseUrl)) throw new UsageError(`TOOLMOCK_URL=${maskUrl(baseUrl)}: expected ${BASE_URL_RULE}.`)
  if (id === undefined) throw new UsageError(`${command} needs --client-id, or TOOLMOCK_CLIENT_ID.`)
  if (secret === undefined) throw new UsageError(`${command} needs --client-secret, or TOOLMOCK_CLIENT_SECRET.`)
  return { baseUrl, client: { id, secret } }
}
