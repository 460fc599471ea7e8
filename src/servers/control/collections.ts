import { lazyImport } from '../../model/domain/once.ts'
import { collectionNamed, type Collection, type CollectionPlace, itemKey } from '../../model/domain/collection.ts'
import type { CollectionOwner } from '../../model/domain/connector.ts'
import { quote, thereAre } from '../../model/domain/text.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import { replaceItems } from '../../state/collections.ts'
import { accountsOf, type Environment } from '../../state/environment.ts'
import { changeReply, type EnvironmentCall, type ControlHandlers } from './call.ts'
import { ControlError, invalidInput } from './errors.ts'

export const collectionHandlers = {
  list_collections: (call) => {
    const collections = ownersOf(call).flatMap(({ connector, collections: all = {} }) =>
      Object.entries(all).map(([collection, { key, per }]) => ({ connector, collection, key, per })),
    )
    return { body: { collections } }
  },

  list_third_parties: ({ services, request, environment }) => {
    const base = baseUrlOf(request, services.baseUrl)
    const third_parties = [...new Set(environment.connectors.values())].map(
      ({ connector, display_name, authorization_type, base_url, collections = {} }) => {
        const url = base_url ?? `${base}/third-party/${encodeURIComponent(connector)}/api`
        return { connector, display_name, authorization_type, url, collections: Object.keys(collections) }
      },
    )
    return { body: { third_parties } }
  },

  get_collection: async (call) => {
    const { services, environment } = call
    const { thirdParties } = services
    // While templates load, the connector may change and the account may go.
    for (let loading = prepareConnector(call); loading; loading = prepareConnector(call)) await loading
    const { connector, place } = namedCollection(call)
    thirdParties.fillCollection(environment, connector, place)
    const items = environment.model.collections.at(place).all()
    return { body: { items: items.map(({ item }) => item) } }
  },

  put_collection: async (call) => {
    const { environment, body } = call
    const { keyProblems } = await loadSeedChecks()
    const { collection, place } = namedCollection(call)
    const problems = keyProblems(collection, body.items, ['items'])
    if (problems.length > 0) throw invalidInput('INVALID_BODY', problems)
    environment.model.transact(() => {
      replaceItems(
        environment,
        place,
        body.items.map((item) => [itemKey(collection, item) ?? '', item]),
      )
    })
    return changeReply(`the collection ${place.collection} of ${place.connector} was replaced`)
  },
} satisfies Partial<ControlHandlers>

function prepareConnector(call: EnvironmentCall<'get_collection'>): Promise<void> | undefined {
  return call.services.thirdParties.prepare(namedCollection(call).connector)
}

/** What checks documents is loaded when one is sent. */
const loadSeedChecks = lazyImport(() => import('../../files/seed-checks.ts'))

interface NamedCollection {
  readonly connector: CollectionOwner
  readonly collection: Collection
  readonly place: CollectionPlace
}

type NamingCall = EnvironmentCall<'get_collection'> | EnvironmentCall<'put_collection'>

function namedCollection(call: NamingCall): NamedCollection {
  const { environment, path, query } = call
  const owners = ownersOf(call)
  const connector = environment.connector(path.connector) ?? owners.find((each) => each.connector === path.connector)
  if (!connector)
    throw collectionNotFound(
      `connector ${quote(path.connector)}`,
      owners.map(({ connector: name }) => name),
    )
  const collection = collectionNamed(connector, path.collection)
  if (!collection) {
    const what = `collection ${quote(path.collection)} of ${connector.connector}`
    throw collectionNotFound(what, Object.keys(connector.collections ?? {}))
  }
  const account_id = collectionAccount(environment, connector, collection, query.account)
  return { connector, collection, place: { connector: connector.connector, collection: path.collection, account_id } }
}

function collectionNotFound(what: string, there: readonly string[]): ControlError {
  return new ControlError('COLLECTION_NOT_FOUND', `there is no ${what}; ${thereAre(there, 'there is none')}`)
}

function ownersOf({ services, environment }: Pick<NamingCall, 'services' | 'environment'>): CollectionOwner[] {
  return [...new Set(environment.connectors.values()), ...services.extensions.all]
}

/** The id of the account whose items are meant; empty where accounts share them. */
function collectionAccount(
  environment: Environment,
  { connector }: CollectionOwner,
  { per }: Collection,
  asked: string | undefined,
): string {
  if (per === 'environment') {
    if (asked === undefined) return ''
    throw invalidInput('INVALID_QUERY', [
      { path: 'account', found: 'given', allowed: 'none: accounts share the items' },
    ])
  }
  if (asked === undefined) {
    const allowed = `the id or identifier of an account of ${connector}, because each has items of its own`
    throw invalidInput('INVALID_QUERY', [{ path: 'account', found: 'nothing', allowed }])
  }
  const [only, ...others] = accountsOf(environment, connector).filter(({ id, identifier }) =>
    [id, identifier].includes(asked),
  )
  if (!only) throw new ControlError('ACCOUNT_NOT_FOUND', `${connector} has no connected account ${quote(asked)}`)
  if (others.length === 0) return only.id
  const mistake = `the identifier of ${String(others.length + 1)} accounts`
  throw invalidInput('INVALID_QUERY', [{ path: 'account', found: mistake, allowed: 'the id of one of them' }])
}
