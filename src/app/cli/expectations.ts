import type { App } from '../app.ts'
import { collectionNamed, conditionsOf, testOfConditions } from '../../model/domain/collection.ts'
import { type JsonObject, jsonText } from '../../model/domain/json.ts'
import { maskJson } from '../../model/domain/masking.ts'
import { RequestTrace } from '../../model/domain/request-trace.ts'
import { plural, thereAre } from '../../model/domain/text.ts'
import { matchedText, nearMissText } from '../../model/domain/value-match.ts'
import { readMatch } from '../../journal/request-journal/query.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import type { Environment } from '../../state/environment.ts'
import { runFinding, type VerdictItem, verdictItem } from '../../journal/verdict/report-pair.ts'
import type { CaseReasonCode } from '../../journal/verdict/report-types.ts'
import type { Expectations } from './cases.ts'

/** What of its expectations the environment of a case does not meet once its command has ended. */
export async function unmetExpectations(expect: Expectations, services: App['services']): Promise<VerdictItem[]> {
  const environment = services.defaultEnvironment()
  if (!environment) return [caseReason('request', 'the environment of the case is gone')]
  applyDueEvents(environment, new RequestTrace())
  const items: VerdictItem[] = []
  for (const each of expect.items) items.push(...(await unmetItems(each, services, environment)))
  return [...unmetRequests(expect, services, environment), ...items, ...unmetAccounts(expect, environment)]
}

function unmetRequests({ requests, never }: Expectations, services: App['services'], environment: Environment) {
  const journal = services.journals.of(environment)
  const verified = (code: 'request' | 'never', query: object, times: number | undefined): VerdictItem[] => {
    const match = readMatch(query, services.extensions.names)
    const verdict = journal.verify(match, times)
    const { ok, matched, near_misses } = verdict
    if (ok) return []
    const matching = matched === 0 ? [] : journal.query({ match }).map(({ id }) => id)
    const sentence = matchedText(verdict, query, expectedTimes(times))
    const ids = [...matching, ...near_misses.map(({ id }) => id)]
    return [{ ...caseReason(code, sentence, near_misses.map(nearMissText)), requests: ids }]
  }
  return [
    ...requests.flatMap(({ times, ...match }) => verified('request', match, times)),
    ...never.flatMap((match) => verified('never', match, 0)),
  ]
}

function expectedTimes(times: number | undefined): string {
  if (times === undefined) return 'at least 1'
  return times === 0 ? 'none' : `exactly ${times}`
}

async function unmetItems(
  { connector: name, collection: collectionName, account, where, times }: Expectations['items'][number],
  { thirdParties }: App['services'],
  environment: Environment,
): Promise<VerdictItem[]> {
  const subject = `${name}/${collectionName}${account === undefined ? '' : ` of ${account}`}`
  const connector = environment.connector(name)
  const collection = connector && collectionNamed(connector, collectionName)
  if (!collection) return [caseReason('item', `there is no ${subject}`)]
  await thirdParties.prepare(connector)
  const { model } = environment
  const of = [...model.tables.accounts.values()].filter(
    ({ id, connector: its, identifier }) => its === name && [undefined, id, identifier].includes(account),
  )
  const places = collection.per === 'environment' ? [''] : of.map(({ id }) => id)
  const items = places.flatMap((account_id): JsonObject[] => {
    const place = { connector: name, collection: collectionName, account_id }
    thirdParties.fillCollection(environment, connector, place)
    return model.collections
      .at(place)
      .all()
      .map(({ item }) => item)
  })
  const matched = items.filter(testOfConditions(conditionsOf(where))).length
  if (times === undefined ? matched > 0 : matched === times) return []
  const sentence = `${plural(matched, 'item')} of ${subject} with ${jsonText(where)}; wanted: ${expectedTimes(times)}`
  const near = items.slice(-3).map((item) => `there is ${jsonText(maskJson(item))}`)
  return [caseReason('item', sentence, near)]
}

function unmetAccounts({ accounts }: Expectations, { model }: Environment): VerdictItem[] {
  return accounts.flatMap(({ identifier, connector, status }) => {
    const ofConnector = [...model.tables.accounts.values()].filter((account) => account.connector === connector)
    const accounts = ofConnector.filter((account) => account.identifier === identifier)
    if (accounts.some((account) => account.status === status)) return []
    const mistake = accounts.map((account) => `${account.id} is ${account.status}`).join(', ')
    const others = thereAre(
      [...new Set(ofConnector.map((account) => account.identifier))].slice(0, 10),
      'there is none',
    )
    return [
      caseReason(
        'account',
        `${identifier} of ${connector}: ${mistake || `no such account; ${others}`}; wanted: ${status}`,
      ),
    ]
  })
}

export function caseReason(code: CaseReasonCode, sentence: string, details: string[] = []): VerdictItem {
  return verdictItem(runFinding({ code, field: sentence, allowed: '', found: null }), details)
}
