import { quote } from '../../domain/text.ts'
import type { AccountStatus } from '../../domain/account.ts'
import { isJsonObject, own } from '../../domain/json.ts'
import { nearest } from '../../domain/suggestion.ts'
import { toolOf } from '../view.ts'
import { accountFacts, answerOf, type Case, type Finding, named, sentText, upstreamFacts } from './case.ts'

const WAY_OUT: Readonly<Record<AccountStatus, string>> = {
  ACTIVE: 'Try again: the account was ACTIVE when the request came, and stopped being so on the way.',
  EXPIRED:
    'Send its user through a new magic link, or update it with live credentials; an EXPIRED account is never refreshed.',
  PENDING_AUTH:
    'Its user has not given consent: create a magic link and complete it (POST /_mock/links/{id}/complete).',
  PENDING_VERIFICATION: 'Call POST /api/v1/connected_accounts/user/verify with the auth_request_id of the redirect.',
  DISCONNECTED: 'Send its user through a new magic link, or update it with live credentials.',
}

export function accountNotActive(of: Case): Finding {
  const { account, transitions } = of.entry.trace
  const found = account?.status ?? 'ACTIVE'
  // What fell due, and a refresh that is refused, move it while the request is under way.
  const moved = transitions.findLast(({ account_id }) => account_id === account?.id)
  const left = moved && moved.to !== 'none' ? moved.to : found
  const state = found !== 'ACTIVE' ? `was ${found}` : left === 'ACTIVE' ? 'was no longer ACTIVE' : `became ${left}`
  return {
    because: `Tools run with ACTIVE accounts only; this one ${state}.`,
    basis: '3.1, G44, G46',
    facts: [...accountFacts(of), ...upstreamFacts(of)],
    advice: [WAY_OUT[left]],
  }
}

export function accountNotFound(of: Case): Finding {
  const { entry, earlier, environment } = of
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
  const close =
    identifier === undefined || same.length > 0
      ? undefined
      : nearest(
          identifier,
          accounts.slice(0, 2000).map((each) => each.identifier),
        )
  return {
    because: of.message === '' ? 'No account is what the locator says.' : `${of.message}.`,
    basis: '4 (locating an account), G2, G21',
    facts: [
      ...(deleted ? [`It was deleted by ${named(deleted)}.`] : []),
      ...same.map(
        ({ id: known, connector, organization_id, user_id }) =>
          `${quote(identifier ?? '')} exists at ${connector} as ${known}, organization_id ${quote(organization_id)}, user_id ${quote(user_id)}.`,
      ),
      ...(close === undefined ? [] : [`There is an account with the identifier ${quote(close)}.`]),
      `Environment ${quote(entry.environment)} has ${accounts.length} accounts now; each environment has its own.`,
    ],
    advice: [
      'Send the id that creating the account answered, or connector and identifier with the same organization_id and user_id.',
    ],
  }
}

export function accountAlreadyExists({ entry, earlier, message }: Case): Finding {
  const existing = resourceOf(answerOf(entry))
  const maker = earlier.findLast(({ trace }) =>
    trace.transitions.some(({ from, account_id }) => from === 'none' && account_id === existing),
  )
  const born = maker
    ? `was made by ${named(maker)}`
    : 'was there before this journal begins, from the seed for instance'
  return {
    because: message === '' ? 'The scope holds this identifier at this connector already.' : `${message}.`,
    basis: '4.3, G20, G55',
    facts: existing === undefined ? [] : [`The existing account ${existing} ${born}.`],
    advice: ['Take the id in resource_info.resource_name of the answer as the account, or send another scope.'],
  }
}

function resourceOf(answer: ReturnType<typeof answerOf>): string | undefined {
  const details = own(answer, 'details')
  const info = Array.isArray(details) ? details[0] : undefined
  const resource = isJsonObject(info) ? own(info, 'resource_info') : undefined
  const name = isJsonObject(resource) ? own(resource, 'resource_name') : undefined
  return typeof name === 'string' ? name : undefined
}

export function toolNotFound(of: Case): Finding {
  const { entry, environment } = of
  const connector = entry.trace.account?.connector ?? ''
  const tools = environment?.connector(connector)?.tools.map(({ name }) => name) ?? []
  const meant = nearest(toolOf(entry) ?? '', tools)
  return {
    because: of.message === '' ? 'The account’s connector has no such tool.' : `${of.message}.`,
    basis: 'G44',
    facts: [`Tools of ${connector || 'the connector'}: ${tools.join(', ') || 'none'}.`],
    advice: [meant === undefined ? 'A tool runs only with an account of its own connector.' : `Did you mean ${meant}?`],
  }
}

/** 429, 500 and 504 of a tool call: what the third party did. */
export function thirdPartyFailure(because: string, ...advice: string[]): (of: Case) => Finding {
  return (of) => ({
    because: of.message === '' ? because : `${because} The answer says: ${of.message}.`,
    basis: 'G44, G45',
    facts: [...upstreamFacts(of), ...accountFacts(of)],
    advice,
  })
}
