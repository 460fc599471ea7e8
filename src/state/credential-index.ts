import type { BearerToken, Client } from '../domain/client.ts'
import type { MagicLink } from '../domain/magic-link.ts'
import type { StoredEnvironment } from './stored-environment.ts'
import type { ExtraIndexes } from './model/model.ts'
import type { Index, Row } from './model/table.ts'

interface Found<T> {
  environment: StoredEnvironment
  row: T
}

/** Which environment a client, a bearer token or a link belongs to, without asking each (1.2). */
export class CredentialIndex {
  readonly clients = new Map<string, Found<Client>>()
  readonly bearerTokens = new Map<string, Found<BearerToken>>()
  readonly magicLinks = new Map<string, Found<MagicLink>>()
  readonly oauthStates = new Map<string, Found<MagicLink>>()

  /** The indexes through which the rows of an environment get into the directory. */
  indexesOf(
    environment: () => StoredEnvironment,
  ): Required<Pick<ExtraIndexes, 'clients' | 'bearer_tokens' | 'magic_links'>> {
    return {
      clients: [this.#index(this.clients, environment, (client) => client.id, refuseSecondClient)],
      bearer_tokens: [this.#index(this.bearerTokens, environment, (token) => token.id)],
      magic_links: [
        this.#index(this.magicLinks, environment, (link) => link.id),
        this.#index(this.oauthStates, environment, (link) => link.oauth_state),
      ],
    }
  }

  /** Takes an environment's rows out. */
  leave(environment: StoredEnvironment): void {
    this.#each(environment, (index, row) => index.update(row, undefined))
  }

  /** Puts the rows of an environment that had left back in. */
  rejoin(environment: StoredEnvironment): void {
    this.#each(environment, (index, row) => index.update(undefined, row))
  }

  #each(environment: StoredEnvironment, visit: <T extends Row>(index: Index<T>, row: T) => void): void {
    const { clients, bearer_tokens, magic_links } = this.indexesOf(() => environment)
    const { tables } = environment.model
    for (const row of tables.clients.values()) for (const index of clients) visit(index, row)
    for (const row of tables.bearer_tokens.values()) for (const index of bearer_tokens) visit(index, row)
    for (const row of tables.magic_links.values()) for (const index of magic_links) visit(index, row)
  }

  #index<T extends Row>(
    map: Map<string, Found<T>>,
    environment: () => StoredEnvironment,
    key: (row: T) => string,
    refuseSecond: (first: Found<T>) => void = () => undefined,
  ): Index<T> {
    return {
      update(before, after) {
        const own = environment()
        const holder = after && map.get(key(after))
        if (holder && holder.environment !== own) refuseSecond(holder)
        if (before && map.get(key(before))?.environment === own) map.delete(key(before))
        if (after) map.set(key(after), { environment: own, row: after })
      },
    }
  }
}

/** The client credentials choose the environment, so that no two environments can share a client id. */
function refuseSecondClient({ environment, row }: Found<Client>): void {
  throw new ClientIdTakenError(row.id, environment.name)
}

export class ClientIdTakenError extends Error {
  override readonly name = 'ClientIdTakenError'

  constructor(
    readonly clientId: string,
    readonly environment: string,
  ) {
    super(`the client id ${JSON.stringify(clientId)} belongs to the environment ${environment}; client ids are unique`)
  }
}
