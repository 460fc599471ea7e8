import { checkNamed, whole } from './arguments.ts'
import type { Control } from './control.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { LinkView } from './views/link.ts'

/** How a user decides a link. */
export interface LinkDecision {
  readonly decision: 'approve' | 'deny'
  /** Who signs in at the third party; anybody. The link's own identity when absent. */
  readonly as?: string
}

/** Consent without a browser (G31). */
export interface MockLinks {
  /** Open and unexpired ones, oldest first. */
  list(): Promise<readonly LinkView[]>
  /**
   * The oldest open link, as soon as there is one.
   * @param options `timeoutMs`: real milliseconds, 5,000 when absent, 600,000 at most
   * @throws ToolmockError TIMED_OUT when there is none in time
   */
  wait(options?: { readonly timeoutMs?: number }): Promise<LinkView>
  /**
   * Decides a link by the steps that a browser would take.
   * @param id of a link, or the link itself
   * @returns `redirect_url`: where the browser would go, with `auth_request_id` or `error` and the caller's `state` (G30)
   * @throws ToolmockError LINK_NOT_FOUND, LINK_GONE, LINK_NOT_USABLE
   */
  complete(id: string | LinkView, decision: LinkDecision): Promise<{ readonly redirect_url: string }>
}

const DEFAULT_TIMEOUT = 5000

/** @internal */
export function linksOf(control: Control): MockLinks {
  const list = async (wait_ms?: number) => (await control.call('GET /links', { query: { wait_ms } })).links
  return {
    list: () => list(),
    wait: async (options = {}) => {
      checkNamed('links.wait', options, { timeoutMs: whole(0, 600_000) })
      const { timeoutMs = DEFAULT_TIMEOUT } = options
      const [link] = await list(timeoutMs)
      if (link) return link
      const message = `no open magic link in environment ${control.environment} after ${timeoutMs} ms; links come with POST /api/v1/connected_accounts/magic_link by a client of that environment`
      throw new ToolmockError('TIMED_OUT', message)
    },
    complete: (id, decision) =>
      control.call('POST /links/{id}/complete', {
        path: { id: idOf(id) },
        body: decision,
      }),
  }
}

/** In plain JavaScript it may be nothing at all, which is refused further on. */
function idOf(link: string | LinkView | undefined): string | undefined {
  return typeof link === 'object' ? link.id : link
}
