import type { AuthRequest, MagicLink } from '../../domain/magic-link.ts'
import type { Index } from './table.ts'

/** Magic links whose flow has not completed, and auth requests that wait for verification, by account. */
export class LinkIndex {
  readonly #all: () => Iterable<MagicLink>
  #open = new Map<string, MagicLink>()
  /** Whether a link has been opened again, so that the map is no longer in the order of the table. */
  #shuffled = false
  readonly #pending = new Map<string, readonly AuthRequest[]>()

  /** @param all every link, in the order of its table */
  constructor(all: () => Iterable<MagicLink>) {
    this.#all = all
  }

  readonly links: Index<MagicLink> = {
    update: (before, after) => {
      if (before && !isOpen(after)) this.#open.delete(before.id)
      if (!after || !isOpen(after)) return
      if (before && !isOpen(before)) this.#shuffled = true
      this.#open.set(after.id, after)
    },
  }

  readonly requests: Index<AuthRequest> = {
    update: (before, after) => {
      if (before?.outcome === 'pending')
        this.#list(before.account_id, without(this.pendingOf(before.account_id), before))
      if (after?.outcome === 'pending') this.#list(after.account_id, [...this.pendingOf(after.account_id), after])
    },
  }

  /** Links whose flow has not completed, expired ones among them, oldest first. */
  open(): Iterable<MagicLink> {
    if (this.#shuffled) this.#open = new Map([...this.#all()].filter(isOpen).map((link) => [link.id, link]))
    this.#shuffled = false
    return this.#open.values()
  }

  /** The auth requests of an account that wait for verification. */
  pendingOf(accountId: string): readonly AuthRequest[] {
    return this.#pending.get(accountId) ?? NONE
  }

  #list(accountId: string, requests: readonly AuthRequest[]): void {
    if (requests.length > 0) this.#pending.set(accountId, requests)
    else this.#pending.delete(accountId)
  }
}

const NONE: readonly never[] = Object.freeze([])

function isOpen(link: MagicLink | undefined): boolean {
  return link !== undefined && link.completed_at === undefined
}

function without(requests: readonly AuthRequest[], { id }: AuthRequest): AuthRequest[] {
  return requests.filter((request) => request.id !== id)
}
