import { withoutPending } from '../../model/domain/account.ts'
import { type Connection, newConnection } from '../../model/domain/connection.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import {
  connectionType,
  isMcp,
  NEW_PROVIDER,
  newIdentifier,
  type Provider,
  providerView,
} from '../../model/domain/provider.ts'
import { adoptConnectionTypes, adoptConnectorType, endRequests } from '../../state/account-changes.ts'
import { connectionsOf, type Environment, now, providerNamed } from '../../state/environment.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { Call, Reply } from './operation.ts'

/** POST /custom-providers (4.11): the provider, and its connection, whose `key_id` is the identifier (G37, G38). */
export function createCustomProvider({ environment, body }: Call<'create_custom_provider'>): Reply {
  const { ids, model } = environment
  const identifier = newIdentifier(body.display_name, ids)
  const provider: Provider = {
    id: ids.id('prv'),
    identifier,
    display_name: body.display_name,
    ...NEW_PROVIDER,
    ...changesIn(body),
  }
  model.transact(() => {
    model.tables.providers.put(withPatterns(provider))
    model.tables.connections.put(newConnection(ids.id('conn'), identifier, connectionType(provider)))
  })
  return { status: 201, body: { provider: withPatterns(provider) } }
}

/** PUT /custom-providers/{identifier} (4.12): only provided fields change; `metadata` as a whole (G39). */
export function updateCustomProvider(call: Call<'update_custom_provider'>): Reply {
  const { environment, thirdParty, path, body, trace } = call
  const { tables } = environment.model
  const before = customProvider(environment, path.identifier)
  const created_as = before.created_as ?? before.display_name
  const provider = withPatterns({ ...before, ...changesIn(body), created_as })
  environment.model.transact(() => {
    tables.providers.put(provider)
    const connector = environment.connector(provider.identifier)
    if (connector) adoptConnectionTypes(environment, [connector])
    adoptConnectorType(environment, thirdParty, provider.identifier, trace)
  }, trace)
  return { status: 200, body: { provider: providerView(provider) } }
}

/** DELETE /custom-providers/{identifier} (4.13): permanent; its accounts become `DISCONNECTED` (G40). */
export function deleteCustomProvider({ environment, path, trace }: Call<'delete_custom_provider'>): Reply {
  const { model } = environment
  const provider = customProvider(environment, path.identifier)
  model.transact(() => {
    for (const connection of connectionsOf(environment, provider.identifier))
      removeConnection(environment, connection, trace)
    model.tables.providers.remove(provider.id)
  }, trace)
  return { status: 200, body: {} }
}

/** Removes a connection; its accounts become `DISCONNECTED` (G40). Only inside a transaction. */
export function removeConnection(environment: Environment, { id, key_id }: Connection, trace: RequestTrace): void {
  const { model } = environment
  model.tables.connections.remove(id)
  for (const account of model.accountIndex.where({ connector: key_id })) {
    endRequests(environment, account, 'withdrawn')
    const next = trace.moved(account, 'provider_deleted', now(environment))
    model.tables.accounts.put(withoutPending(next))
  }
}

const CHANGEABLE = [
  'display_name',
  'description',
  'icon_src',
  'auth_patterns',
  'metadata',
  'proxy_enabled',
  'proxy_url',
] as const satisfies readonly (keyof Provider)[]

/** The fields that are given; an empty icon_src counts as absent (G58). */
function changesIn(body: { [Field in (typeof CHANGEABLE)[number]]?: Provider[Field] | undefined }): Partial<Provider> {
  const { icon_src, ...givenFields } = body
  const fields = { ...givenFields, icon_src: icon_src || undefined }
  return Object.fromEntries(
    CHANGEABLE.flatMap((field) => (fields[field] === undefined ? [] : [[field, fields[field]]])),
  )
}

function withPatterns(provider: Provider): Provider {
  return { ...provider, is_custom_mcp: isMcp(provider.auth_patterns) }
}

/** @throws ServiceError PROVIDER_NOT_FOUND: also for providers that are not custom, which these operations never touch */
function customProvider(environment: Environment, identifier = ''): Provider {
  const provider = providerNamed(environment.model, identifier, true)
  if (provider) return provider
  throw new ServiceError('PROVIDER_NOT_FOUND', `there is no custom provider ${JSON.stringify(identifier)}`)
}
