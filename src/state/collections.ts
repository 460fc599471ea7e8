import type { Account } from '../model/domain/account.ts'
import {
  collectionNamed,
  type CollectionItem,
  type CollectionPlace,
  counterOf,
  itemId,
  itemKey,
  placeId,
} from '../model/domain/collection.ts'
import type { CollectionOwner } from '../model/domain/connector.ts'
import type { JsonObject } from '../model/domain/json.ts'
import { accountsOf, type Environment } from './environment.ts'

/** The counters of a rate limit: when its time began, and the calls since. */
export function rateCountersOf({ connector, account_id }: Omit<CollectionPlace, 'collection'>): [string, string] {
  const id = placeId({ connector, collection: 'calls', account_id })
  return [`rate limit ${id} since`, `rate limit ${id}`]
}

/** The counter of a responder with a sequence of answers, or of one account there; `at` is its place in its connector or extension. */
export function sequenceCounterOf(connector: string, at: number, accountId = ''): string {
  return `responder ${connector} ${at}${accountId && ` ${accountId}`}`
}

/** The connector or extension that a counter of a responder is of; ids of accounts begin with `ca_`. */
const SEQUENCE_OWNER = /^responder (.+?) \d+(?: ca_.*)?$/s

/** Sequences begin again, and collections whose items have another key then. Only inside a transaction. */
export function restartReplaced(
  environment: Environment,
  put: CollectionOwner,
  before: CollectionOwner | undefined,
): void {
  const { connector } = put
  const { counters } = environment.model.tables
  for (const id of counters.ids()) if (SEQUENCE_OWNER.exec(id)?.[1] === connector) counters.remove(id)
  if (!before) restartRekeyed(environment, put)
  for (const [name, { key }] of Object.entries(before?.collections ?? {}))
    if (collectionNamed(put, name)?.key !== key) restartCollection(environment, connector, name)
}

/** As after a start with another file. Only inside a transaction. @returns the names of the collections */
export function restartRekeyed(environment: Environment, owner: CollectionOwner): string[] {
  const rekeyed = new Set<string>()
  for (const row of environment.model.tables.collection_items.values()) {
    if (row.connector !== owner.connector) continue
    const collection = collectionNamed(owner, row.collection)
    if (collection && row.id !== itemId(row, itemKey(collection, row.item) ?? '')) rekeyed.add(row.collection)
  }
  for (const name of rekeyed) restartCollection(environment, owner.connector, name)
  return [...rekeyed]
}

/** The place of a collection's next item in creation order, from 1. Only inside a transaction. */
export function nextSequence({ model }: Environment, place: CollectionPlace): number {
  return model.count(counterOf(place))
}

/** Puts a new item at the sequence that {@link nextSequence} has given. Only inside a transaction. */
export function putItem(
  { model }: Environment,
  { connector, collection, account_id }: CollectionPlace,
  { id, sequence, item }: Pick<CollectionItem, 'id' | 'sequence' | 'item'>,
): void {
  model.tables.collection_items.put({ id, connector, collection, account_id, sequence, item })
}

/** Makes these items, in this order, all that a collection holds. Only inside a transaction. */
export function replaceItems(
  environment: Environment,
  place: CollectionPlace,
  items: readonly (readonly [key: string, item: JsonObject])[],
): void {
  const { collections, tables } = environment.model
  // From the end, where a removal moves nothing.
  for (const { id } of collections.at(place).all().reverse()) tables.collection_items.remove(id)
  const counter = counterOf(place)
  let value = tables.counters.get(counter)?.value ?? 0
  for (const [key, item] of items) putItem(environment, place, { id: itemId(place, key), sequence: ++value, item })
  tables.counters.put({ id: counter, value })
}

function restartCollection(environment: Environment, connector: string, collection: string): void {
  const { collection_items, counters } = environment.model.tables
  for (const row of collection_items.values())
    if (row.connector === connector && row.collection === collection) collection_items.remove(row.id)
  const accounts = ['', ...accountsOf(environment, connector).map(({ id }) => id)]
  for (const account_id of accounts) counters.remove(counterOf({ connector, collection, account_id }))
}

/** Removes what an account had in collections. Only inside a transaction. */
export function removeItemsOf(environment: Environment, account: Account): void {
  const { collections, tables } = environment.model
  for (const id of collections.ofAccount(account.id)) tables.collection_items.remove(id)
  const { id: account_id } = account
  const owner: CollectionOwner & { readonly responders?: readonly unknown[] } =
    environment.connector(account.connector) ?? account
  const { connector, collections: declared = {}, responders = [] } = owner
  for (const counter of rateCountersOf({ connector, account_id })) tables.counters.remove(counter)
  for (const at of responders.keys()) tables.counters.remove(sequenceCounterOf(connector, at, account_id))
  for (const collection of Object.keys(declared)) {
    tables.counters.remove(counterOf({ connector, collection, account_id }))
  }
}
