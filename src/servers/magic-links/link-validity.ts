import type { Account } from '../../model/domain/account.ts'
import type { Connector } from '../../model/domain/connector.ts'
import type { MagicLink } from '../../model/domain/generated/tables.ts'
import { isEnabled } from '../../service/operations/connections.ts'
import type { Environment } from '../../state/environment.ts'
import { meetsExpiry } from '../../state/expiry.ts'

/** Every reason why a link cannot be followed, with the status and the text of its page (G28). */
export const PROBLEMS = {
  unknown: {
    status: 404,
    title: 'This link is not known',
    text: 'There is no such link here. Check that it was copied as a whole, or ask for a new one.',
  },
  completed: {
    status: 410,
    title: 'This link has been used',
    text: 'Its flow is complete, and each link works once. Ask for a new link to connect again.',
  },
  expired: {
    status: 410,
    title: 'This link has expired',
    text: 'Links work for a short time only. Ask for a new one.',
  },
  account_deleted: {
    status: 410,
    title: 'This link is no longer valid',
    text: 'The account that it was made for has been deleted.',
  },
  connector_removed: {
    status: 410,
    title: 'This link is no longer valid',
    text: 'The application that it connects to has been removed.',
  },
  connection_disabled: {
    status: 400,
    title: 'This connection is switched off',
    text: 'The application cannot be connected as long as its connection is disabled.',
  },
  verification_required: {
    status: 400,
    title: 'Your identity cannot be verified',
    text: 'The setting require_user_verification is on, and this link was made without a user_verify_url. Nothing was connected.',
  },
  unknown_decision: {
    status: 400,
    title: 'This decision is not known',
    text: 'The parameter decision can be given once, and it is approve or deny. Beside it, the parameter as can be given once.',
  },
  unusable_callback: {
    status: 400,
    title: 'The answer of the application is not usable',
    text: 'It holds neither a code nor an error. Nothing was connected; follow your link again.',
  },
  refused: {
    status: 400,
    title: 'The application did not grant access',
    text: 'Nothing was connected; follow your link again.',
  },
  not_stored: {
    status: 503,
    title: 'The state could not be written',
    text: 'Nothing was changed; follow your link again.',
  },
  unavailable: {
    status: 502,
    title: 'The application could not be reached',
    text: 'Nothing was connected; follow your link again later.',
  },
} as const
export type ProblemKind = keyof typeof PROBLEMS

/** A link that cannot be followed; `routes.ts` turns it into a page, the control API into an error. */
export class LinkProblem extends Error {
  override readonly name = 'LinkProblem'
  readonly status: number
  readonly title: string
  readonly text: string

  constructor(
    readonly kind: ProblemKind,
    /** What was found, as the third party or the request says it. */
    readonly detail: string = '',
  ) {
    const { status, title, text } = PROBLEMS[kind]
    super([title, detail].filter(Boolean).join(': '))
    this.status = status
    this.title = title
    this.text = text
  }
}

export interface OpenLink {
  readonly link: MagicLink
  readonly account: Account
  readonly connector: Connector
}

/**
 * Checked again when the redirect comes back: "when the link stops working" (2.3) is the end of the whole flow. @throws
 * LinkProblem when it is unknown, used or expired, or its account or connector is gone (G28)
 */
export function usableLink(environment: Environment, id: string): OpenLink {
  const { tables } = environment.model
  const link = tables.magic_links.get(id)
  if (!link || environment.isRemoved) throw new LinkProblem('unknown')
  if (link.completed_at !== undefined) throw new LinkProblem('completed')
  const account = tables.accounts.get(link.account_id)
  if (!account) throw new LinkProblem('account_deleted')
  if (meetsExpiry(environment, 'magic_links', link)) throw new LinkProblem('expired')
  const connector = environment.connector(account.connector)
  if (!connector) throw new LinkProblem('connector_removed')
  if (!isEnabled(environment, account.connector)) throw new LinkProblem('connection_disabled')
  return { link, account, connector }
}

/** @throws LinkProblem for links without `user_verify_url` where `require_user_verification` is set ("States") */
export function refuseUnverifiable({ settings }: Environment, link: MagicLink): void {
  if (settings.require_user_verification && link.user_verify_url === '') throw new LinkProblem('verification_required')
}
