import type { Grant } from '../../model/domain/generated/tables.ts'
import { Lookup } from './rows-in-order.ts'
import type { Index } from './table.ts'

/** Grants by what a call presents, by refresh token, and by account. An empty token finds nothing. */
export class GrantIndex implements Index<Grant> {
  readonly #byAccess = new Lookup<Grant>(({ access }) => access || undefined)
  readonly #byRefresh = new Lookup<Grant>(({ refresh_token }) => refresh_token || undefined)
  readonly #byAccount = new Lookup<Grant>(({ account_id }) => account_id || undefined)

  update(before: Grant | undefined, after: Grant | undefined): void {
    for (const lookup of [this.#byAccess, this.#byRefresh, this.#byAccount]) lookup.update(before, after)
  }

  byAccess(connector: string, access: string): Grant | undefined {
    return newestGrant(connector, this.#byAccess.get(access))
  }

  byRefreshToken(connector: string, refreshToken: string): Grant | undefined {
    return newestGrant(connector, this.#byRefresh.get(refreshToken))
  }

  ofAccount(accountId: string): readonly Grant[] {
    return this.#byAccount.get(accountId)
  }
}

/** Of several grants of a connector with the same token one that is refused permanently, else the latest. */
function newestGrant(connector: string, grants: readonly Grant[]): Grant | undefined {
  const ofConnector = grants.filter((grant) => grant.connector === connector)
  return ofConnector.find(({ final }) => final) ?? ofConnector.at(-1)
}
