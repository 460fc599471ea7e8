import type { ControlClient } from './control-client.ts'
import type { CollectionView } from './types.ts'

export interface CollectionOptions {
  /** Whose items: the id of an account, or its identifier. Required where each account has items of its own. */
  readonly account?: string | undefined
}

/** The items of the fake third-party applications, such as messages, events or contacts: the collections of their connector files. */
export interface MockCollections {
  list(): Promise<readonly CollectionView[]>
  /**
   * The items in the order in which they were created.
   * @throws ToolmockError COLLECTION_NOT_FOUND, ACCOUNT_NOT_FOUND; INVALID_QUERY when the account is missing or superfluous
   */
  get<Item extends object = Record<string, unknown>>(
    connector: string,
    collection: string,
    options?: CollectionOptions,
  ): Promise<Item[]>
  /**
   * Makes these items all that the collection holds, until a reset.
   * @param items objects with the key of the collection
   * @throws ToolmockError as `get`, and INVALID_BODY for an item without a key or with that of another
   */
  put(connector: string, collection: string, items: readonly object[], options?: CollectionOptions): Promise<void>
}

/** @internal */
export function collectionsOf(control: ControlClient): MockCollections {
  return {
    list: async () => (await control.call('GET /collections')).collections,
    get: async <Item extends object>(connector: string, collection: string, { account }: CollectionOptions = {}) => {
      const call = { path: { connector, collection }, query: { account } }
      return (await control.call('GET /collections/{connector}/{collection}', call)).items as Item[]
    },
    put: async (connector, collection, items, { account } = {}) => {
      const body = { items: items as Record<string, unknown>[] }
      const call = { path: { connector, collection }, query: { account }, body }
      return control.send('PUT /collections/{connector}/{collection}', call)
    },
  }
}
