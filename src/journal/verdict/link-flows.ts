import type { StoredEntry } from '../request-journal/entry.ts'
import { violation } from '../request-journal/findings.ts'
import { CountedFindings, type CountedFinding, type FoundIn, foundIn } from './counted-findings.ts'

/** How many links without a `user_verify_url`, and how many flows that ended so, a record keeps. */
const MAX_LINKS = 1000

/** A flow of a magic link without a `user_verify_url`: which client asked for the link, in which request. */
interface UnverifiedFlow {
  readonly client: string
  readonly found: FoundIn
}

/** Which clients of an environment verify their users, and which flows of theirs ended without verification. */
export class LinkFlows {
  readonly #open = new Map<string, UnverifiedFlow>()
  readonly #ended: UnverifiedFlow[] = []
  readonly #verifying = new Set<string>()

  get verifies(): boolean {
    return this.#verifying.size > 0
  }

  /** The flows without verification of clients that verify elsewhere; of all clients with `ofAll`. */
  unverified(ofAll: boolean): readonly UnverifiedFlow[] {
    return this.#ended.filter(({ client }) => ofAll || this.#verifying.has(client))
  }

  see(entry: StoredEntry): void {
    const { client, operation } = entry
    const { link } = entry.trace
    if (client !== null && (operation === 'verify_user' || link?.verified)) this.#verifying.add(client)
    if (!link || link.verified) return
    if (link.event === 'made' && client !== null && this.#open.size < MAX_LINKS) {
      this.#open.set(link.id, { client, found: foundIn(entry) })
    }
    if (link.event === 'approved') {
      const flow = this.#open.get(link.id)
      this.#open.delete(link.id)
      if (flow && this.#ended.length < MAX_LINKS) this.#ended.push(flow)
    }
  }

  add(flows: LinkFlows): void {
    this.#ended.push(...flows.#ended.slice(0, MAX_LINKS - this.#ended.length))
    for (const client of flows.#verifying) this.#verifying.add(client)
  }
}

/** Why a flow without verification matters. */
const UNVERIFIED_FLOW = violation({
  kind: 'warning',
  operation: 'create_magic_link',
  code: 'unverified_flow',
  field: 'user_verify_url',
  found: null,
  allowed:
    'is missing although the client verifies its users elsewhere: there is no check that the person who gave consent is the user of the account',
})

/** Of clients that verify elsewhere. An environment of a test has clients of its own: of several, each is elsewhere. */
export function unverifiedFlows(environments: readonly LinkFlows[]): Iterable<CountedFinding> {
  const findings = new CountedFindings()
  for (const flows of environments) {
    const others = environments.some((environment) => environment !== flows && environment.verifies)
    for (const flow of flows.unverified(others)) findings.add(UNVERIFIED_FLOW, flow.found)
  }
  return findings.list()
}
