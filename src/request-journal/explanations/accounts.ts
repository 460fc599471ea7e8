import { plural, quote } from '../../domain/text.ts'
import type { AccountStatus } from '../../domain/account.ts'
import { isJsonObject, own } from '../../domain/json.ts'
import { nearest } from '../../domain/suggestion.ts'
import { toolOf } from '../view.ts'
import { accountFacts, answerOf, type Evidence, type Cause, named, sentText, upstreamFacts } from './evidence.ts'

const ADVICE: Readonly<Record<AccountStatus, string>> = {
  ACTIVE: 'Try again: the account was ACTIVE when the request arrived and changed while it was handled.',
  EXPIRED:
    'Send its user through a new magic link, or update it with live credentials; an EXPIRED account is never refreshed.',
  PENDING_AUTH: 'Its user has not consented: create a magic link and complete it (POST /_mock/links/{id}/complete).',
  PENDING_VERIFICATION: 'Call POST /api/v1/connected_accounts/user/verify with the auth_request_id of the redirect.',
  DISCONNECTED: 'Send its user through a new magic link, or update it with live credentials.',
}

export function accountNotActive(evidence: Evidence): Cause {
  const { account, transitions } = evidence.entry.trace
  const found = account?.status ?? 'ACTIVE'
  // An event that is due, or a refused refresh, changes the status while the request is handled.
  const transition = transitions.findLast(({ account_id }) => account_id === account?.id)
  const left = transition && transition.to !== 'none' ? transition.to : found
  const state = found !== 'ACTIVE' ? `was ${found}` : left === 'ACTIVE' ? 'was no longer ACTIVE' : `became ${left}`
  return {
    because: `Tools run only with ACTIVE accounts; this one ${state}.`,
    basis: '3.1, G44, G46',
    facts: [...accountFacts(evidence), ...upstreamFacts(evidence)],
    advice: [ADVICE[left]],
  }
}

export function accountNotFound(evidence: Evidence): Cause {
  const { entry, earlier, environment } = evidence
  const id = sentText(entry, 'id') ?? sentText(entry, 'connected_account_id')
  const identifier = sentText(entry, 'identifier')
  const deleted = earlier.findLast(({ trace }) =>
    trace.transitions.some(
      ({ event, account_id }) =>
        event === 'deleted' &&
        (id === undefined
          ? account_id === trace.account?.id && trace.account.identifier === identifier
          : account_id === id),
    ),
  )
  const accounts = [...(environment?.model.tables.accounts.values() ?? [])]
  const same = accounts.filter((account) => identifier !== undefined && account.identifier === identifier).slice(0, 5)
  const meant =
    identifier === undefined || same.length > 0
      ? undefined
      : nearest(
          identifier,
          accounts.slice(0, 2000).map((each) => each.identifier),
        )
  return {
    because: evidence.message === '' ? 'No account matches the locator.' : `${evidence.message}.`,
    basis: '4 (locating an account), G2, G21',
    facts: [
      ...(deleted ? [`It was deleted by ${named(deleted)}.`] : []),
      ...same.map(
        ({ id: known, connector, organization_id, user_id }) =>
          `${quote(identifier ?? '')} exists at ${connector} as ${known}, organization_id ${quote(organization_id)}, user_id ${quote(user_id)}.`,
      ),
      ...(meant === undefined ? [] : [`Did you mean the account with the identifier ${quote(meant)}?`]),
      `Environment ${quote(entry.environment)} has ${plural(accounts.length, 'account')} now; each environment has its own.`,
    ],
    advice: [
      'Send the id from the answer of the create, or connector and identifier with the same organization_id and user_id.',
    ],
  }
}

export function accountAlreadyExists({ entry, earlier, message }: Evidence): Cause {
  const existing = resourceOf(answerOf(entry))
  const maker = earlier.findLast(({ trace }) =>
    trace.transitions.some(({ from, account_id }) => from === 'none' && account_id === existing),
  )
  const origin = maker ? `was created by ${named(maker)}` : 'is older than this journal; it may come from the seed'
  return {
    because: message === '' ? 'The scope has an account with this identifier at this connector.' : `${message}.`,
    basis: '4.3, G20, G55',
    facts: existing === undefined ? [] : [`The existing account ${existing} ${origin}.`],
    advice: [
      'Use the account that resource_info.resource_name of the answer names, or send another organization_id or user_id.',
    ],
  }
}

function resourceOf(answer: ReturnType<typeof answerOf>): string | undefined {
  const details = own(answer, 'details')
  const info = Array.isArray(details) ? details[0] : undefined
  const resource = isJsonObject(info) ? own(info, 'resource_info') : undefined
  const name = isJsonObject(resource) ? own(resource, 'resource_name') : undefined
  return typeof name === 'string' ? name : undefined
}

export function toolNotFound(evidence: Evidence): Cause {
  const { entry, environment } = evidence
  const connector = entry.trace.account?.connector
  const all = environment ? [...environment.model.tables.connectors.values()] : []
  // A request that names no connector was for a tool of any of them (G21).
  const connectors = connector === undefined ? all : [environment?.connector(connector)]
  const tools = connectors.flatMap((each) => each?.tools.map(({ name }) => name) ?? [])
  const meant = nearest(toolOf(entry) ?? '', tools)
  return {
    because: evidence.message === '' ? 'The account’s connector has no such tool.' : `${evidence.message}.`,
    basis: connector === undefined ? 'G21, G44' : 'G44',
    facts: connector === undefined ? [] : [`Tools of ${connector}: ${tools.join(', ') || 'none'}.`],
    advice: [meant === undefined ? 'A tool runs only with accounts of its own connector.' : `Did you mean ${meant}?`],
  }
}

/** 429, 500 and 504 of a tool call. */
export function thirdPartyFailure(because: string, ...advice: string[]): (evidence: Evidence) => Cause {
  return (evidence) => ({
    because: evidence.message === '' ? because : `${because} The answer says: ${evidence.message}.`,
    basis: 'G44, G45',
    facts: [...upstreamFacts(evidence), ...accountFacts(evidence)],
    advice,
  })
}
