import { LATEST_REQUESTS, latestRequestsText } from '../../model/domain/value-match.ts'
import { checkOptions, wholeNumberRule } from './arguments.ts'
import type { ControlClient } from './control-client.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { LinkView } from './types.ts'

/** What a user decides at a magic link. */
export interface LinkDecision {
  readonly decision: 'approve' | 'deny'
  /** Who signs in at the third party; the link's own identity when absent. */
  readonly as?: string
  /** What an approved consent grants of what is asked for; all of it when absent. */
  readonly scopes?: readonly string[]
}

/** Consent without a browser (G31). */
export interface MockLinks {
  /** Open and unexpired ones, oldest first. */
  list(): Promise<readonly LinkView[]>
  /**
   * Waits for an open link, and answers the oldest.
   * @param options `timeoutMs`: real milliseconds, 3,000 when absent, 600,000 at most
   * @throws ToolmockError TIMED_OUT when there is none in time
   */
  wait(options?: { readonly timeoutMs?: number }): Promise<LinkView>
  /**
   * Decides a link by the steps that a browser would take.
   * @param id of a link, its address as `create_magic_link` answers it, or an item of `list`
   * @returns `redirect_url`: where the browser would go, with `auth_request_id` or `error` and the caller's `state` (G30)
   * @throws ToolmockError LINK_NOT_FOUND, LINK_GONE, LINK_NOT_USABLE
   */
  complete(id: string | LinkView, decision: LinkDecision): Promise<{ readonly redirect_url: string }>
}

const DEFAULT_TIMEOUT_MS = 3000

/** @internal */
export function linksOf(control: ControlClient): MockLinks {
  const list = async (wait_ms?: number) => (await control.call('GET /links', { query: { wait_ms } })).links
  return {
    list: () => list(),
    wait: async (options = {}) => {
      checkOptions('links.wait', options, { timeoutMs: wholeNumberRule(0, 600_000) })
      const { timeoutMs = DEFAULT_TIMEOUT_MS } = options
      const [link] = await list(timeoutMs)
      if (link) return link
      const { requests } = await control.call('GET /requests', { query: { kind: 'request', limit: LATEST_REQUESTS } })
      const latest = latestRequestsText(requests, control.environment)
      const message = `no open magic link in environment ${control.environment} after ${timeoutMs} ms; a client of that environment makes one with POST /api/v1/connected_accounts/magic_link; ${latest}`
      throw new ToolmockError('TIMED_OUT', message)
    },
    complete: (link: string | LinkView | undefined, decision) => {
      const id = typeof link === 'object' ? link.id : link?.replace(/^.*\/magic\//, '')
      return control.call('POST /links/{id}/complete', { path: { id }, body: decision })
    },
  }
}
