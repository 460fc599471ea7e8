import { quote } from '../domain/text.ts'
import { ACCOUNT_EVENTS, applyAccountEvent } from '../operations/account-events.ts'
import { withoutCredentials } from '../operations/accounts.ts'
import { applyConnectionEvent, CONNECTION_EVENTS, findConnection } from '../operations/connections.ts'
import { changed, type EnvironmentCall, type Reply } from './call.ts'
import { ControlError } from './errors.ts'

/** In creation order, without credentials. */
export function listAccounts({ environment, query }: EnvironmentCall<'list_accounts'>): Reply {
  const filter = query.query === undefined ? {} : { query: query.query }
  const { rows, total } = environment.model.accountIndex.page(filter, { after: 0 }, query.limit)
  return { body: { accounts: rows.map(withoutCredentials), total_size: total } }
}

export function accountEvent(call: EnvironmentCall<'account_event'>): Reply {
  const { services, environment, path, trace } = call
  const event = known(path.event, ACCOUNT_EVENTS)
  const account = environment.model.tables.accounts.get(path.id)
  if (!account) throw new ControlError('ACCOUNT_NOT_FOUND', `there is no connected account ${quote(path.id)}`)
  trace.account ??= account
  const thirdParty = services.thirdParties.client(environment, trace)
  const result = applyAccountEvent({ environment, thirdParty, trace }, account, event)
  const body = { account: withoutCredentials(result.account) }
  return changed(call, `${event} happened to account ${account.id}`, { body })
}

/** The id in the path can be a `key_id` (2.5). */
export function connectionEvent(call: EnvironmentCall<'connection_event'>): Reply {
  const { environment, path } = call
  const event = known(path.event, CONNECTION_EVENTS)
  const connection = findConnection(environment, path.id)
  if (!connection) throw new ControlError('CONNECTION_NOT_FOUND', `there is no connection ${quote(path.id)}`)
  const moved = applyConnectionEvent(environment, connection, event)
  return changed(call, `${event} happened to connection ${moved.id} (${moved.key_id})`, { body: { connection: moved } })
}

/** @throws ControlError EVENT_NOT_FOUND */
function known<Event extends string>(name: string, allowed: readonly Event[]): Event {
  const event = allowed.find((each) => each === name)
  if (event !== undefined) return event
  const message = `there is no event ${quote(name, 60)}; there are ${allowed.join(', ')}`
  throw new ControlError('EVENT_NOT_FOUND', message, [{ event: name.slice(0, 60), allowed }])
}
