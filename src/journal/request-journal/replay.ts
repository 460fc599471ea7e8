import type { components } from '../../model/contract/generated/control-types.ts'
import { errorTraits } from '../../model/domain/errors.ts'
import { SEED_ACCOUNT_FIELDS } from '../../model/domain/generated/tables.ts'
import { milliseconds } from '../../model/domain/instant.ts'
import { isJsonObject, type JsonObject, jsonText, type JsonValue, textAt } from '../../model/domain/json.ts'
import { plural } from '../../model/domain/text.ts'
import type { AccountState, EntryDocument } from './entry.ts'

/** A run that the request journal recorded, as a scenario and a seed that reproduce it, with what they cannot reproduce. */
export type Replay = components['schemas']['Replay']

/** Real time passes in a replay too: the clock only moves on for as much as this, in milliseconds, or where it mattered. */
const LEAST_ADVANCE = 60_000

/** Entries in which the control API replaced what the journal before them says. */
const REPLACED = /^the state was replaced|^the snapshot .* was restored/

/** Answers that neither the client nor the model explains. */
const UNEXPLAINED: ReadonlySet<string> = new Set(['CONNECTION_DISABLED', 'STORAGE_UNAVAILABLE', 'INTERNAL'])

/** The virtual servers, and the calls that configure them. */
const MCP_PATH = /^\/(?:api\/v1\/)?mcp\//

/** The events that the control API gives an account, with the fault that does the same. */
const ACCOUNT_EVENTS: Readonly<Record<string, string>> = {
  expire: 'expire_account',
  disconnect: 'disconnect',
  revoke_refresh_token: 'revoke_refresh_token',
  expire_access_token: 'expire_access_token',
}

/**
 * Up to the latest entry with the id `last`. Accounts that are `present` and that no entry made were there at the
 * start. Undefined when there is no such entry, or no request at all.
 */
export function replayOf(
  recorded: readonly EntryDocument[],
  last?: string,
  accounts: readonly SeededAccount[] = [],
): Replay | undefined {
  // What the mock sends by itself is no request to it.
  const entries = recorded.filter(({ kind }) => kind !== 'webhook')
  const wanted = last === undefined ? entries.length - 1 : entries.findLastIndex(({ id }) => id === last)
  const replaced = entries.findLastIndex(({ kind, path }, at) => at <= wanted && isChange(kind) && REPLACED.test(path))
  // Entries are in the order of their ends; rules count requests in the order in which they came in.
  const order = entries.slice(replaced + 1, wanted + 1).sort((a, b) => beginOf(a) - beginOf(b))
  const first = order.find(isRequest)
  const target = entries[wanted]
  if (!first || !target) return undefined
  const builder = new ReplayBuilder(milliseconds(first.at))
  for (const entry of order) builder.add(entry)
  for (const entry of entries.slice(wanted + 1)) builder.noteAccounts(entry)
  for (const account of accounts) builder.noteAccount(account)
  const name = `replay-${(last ?? target.id).replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, 80)}`
  const documents = builder.documents(name, replayDescription(target, order.filter(isRequest).length))
  return { ...documents, clock: first.at, mcp: order.some(({ path }) => MCP_PATH.test(path)) }
}

function beginOf({ real_at, duration_ms }: EntryDocument): number {
  return milliseconds(real_at) - duration_ms
}

function isChange(kind: EntryDocument['kind']): boolean {
  return kind === 'control' || kind === 'clock'
}

function isRequest({ kind }: EntryDocument): boolean {
  return !isChange(kind)
}

function replayDescription({ method, path, operation, status }: EntryDocument, count: number): string {
  const what =
    method === '' ? path : `${method} ${path}${operation === null ? '' : ` (${operation})`}, answered ${status}`
  return `What happened in ${plural(count, 'request')} up to ${what}.`
}

/** An account as a seed has it, without credentials: the seed invents some that the third party accepts. */
type SeededAccount = AccountState & { readonly api_config?: JsonObject }

function replayedAccount(account: SeededAccount): JsonObject {
  const isGiven = (value: JsonValue | undefined): boolean =>
    isJsonObject(value) ? Object.keys(value).length > 0 : value !== undefined && value !== null && value !== ''
  return Object.fromEntries(
    Object.entries(account).filter(
      ([name, value]) => (SEED_ACCOUNT_FIELDS as readonly string[]).includes(name) && isGiven(value),
    ),
  )
}

/** Goes through the entries in their order, and writes a rule for every effect that was not caused by a client. */
class ReplayBuilder {
  readonly #rules: JsonObject[] = []
  readonly #notes: string[] = []
  /** How many requests have come by, for each place and what its rules match. */
  readonly #counts = new Map<string, number>()
  /** The accounts that were there when the first request about them came. */
  readonly #found = new Map<string, SeededAccount>()
  readonly #made = new Set<string>()
  /** What the control API did to accounts since the last request about them. */
  readonly #events = new Map<string, JsonObject[]>()
  /** Up to where the clock of the replay is, in milliseconds. */
  #clock: number

  constructor(clock: number) {
    this.#clock = clock
  }

  add(entry: EntryDocument): void {
    this.noteAccounts(entry)
    if (entry.kind === 'control') this.#addChange(entry)
    const due = isRequest(entry) ? this.#clockAdvance(entry) : []
    const rules = entry.rules.filter(({ at }) => at === 'service' || at === 'consent')
    const caused = [...due, ...(entry.account === null ? [] : (this.#events.get(entry.account) ?? []))]
    const response = rules.length > 0 ? undefined : unexplainedResponse(entry)
    const faults = response ? [...caused, response] : caused
    const place = replayPlace(entry)
    const isCounted = rules.length > 0 || faults.length > 0 || !isRefusedEarly(entry)
    if (place && isCounted) {
      const { at, on } = place
      const nth = this.#countMatch(at, on)
      if (faults.length > 0) {
        this.#addRule({ at, on, when: { nth }, do: faults, ...(response && { off_spec: true }) })
        if (entry.account !== null) this.#events.delete(entry.account)
        if (due.length > 0) this.#clock = milliseconds(entry.at) - advancesIn(entry)
      }
      for (const rule of rules) this.#addRule({ at, on, when: { nth }, ...ruleEffects(rule) }, rule.rule)
    }
    this.#clock += advancesIn(entry)
    this.#addCalls(entry)
  }

  documents(name: string, description: string): Pick<Replay, 'scenario' | 'seed' | 'notes'> {
    const accounts = [...this.#found.values()]
    for (const events of this.#events.values()) if (events.length > 0) this.#notes.push(UNSEEN)
    // A scenario needs a rule. This one has no effect, as its name says.
    const rules = this.#rules.length > 0 ? this.#rules : [NO_RULE]
    return {
      scenario: { name, description, rules },
      seed: accounts.length === 0 ? {} : { accounts: accounts.map(replayedAccount) },
      notes: [...new Set(this.#notes)],
    }
  }

  /** Notes the account that an entry found, and those that it made. */
  noteAccounts({ account_state: state, transitions }: EntryDocument): void {
    for (const { account_id, from } of transitions) if (from === 'none') this.#made.add(account_id)
    if (state) this.noteAccount(state)
  }

  noteAccount(account: SeededAccount): void {
    if (!this.#made.has(account.id) && !this.#found.has(account.id)) this.#found.set(account.id, account)
  }

  #addChange({ path, account }: EntryDocument): void {
    const fault = ACCOUNT_EVENTS[path.split(' ', 1).join()]
    if (account === null || fault === undefined) return
    this.#events.set(account, [...(this.#events.get(account) ?? []), { [fault]: {} }])
  }

  /** How far the clock has moved where it matters to this entry. */
  #clockAdvance(entry: EntryDocument): JsonObject[] {
    const by = milliseconds(entry.at) - this.#clock - advancesIn(entry)
    const matters = entry.due.length > 0 || entry.error_code === 'LINK_EXPIRED' || hasExpiredToken(entry)
    if (by <= 0 || (by < LEAST_ADVANCE && !matters)) return []
    if (replayPlace(entry) === undefined && matters)
      this.#notes.push(`${entry.method} ${entry.path} depends on the clock, and no rule acts on it`)
    return [{ advance_clock: `${by}ms` }]
  }

  #addCalls(entry: EntryDocument): void {
    const calls = entry.upstream.flatMap(({ kind, grant, connector }) => {
      if (kind === 'token' && grant === 'authorization_code') return [undefined]
      const at = kind === 'api' ? 'third_party' : 'token_refresh'
      return [{ at, on: { connector }, nth: this.#countMatch(at, { connector }) }]
    })
    for (const rule of entry.rules) {
      const call = calls[rule.call ?? -1]
      if (rule.at !== 'third_party' && rule.at !== 'token_refresh') continue
      if (call) this.#addRule({ at: call.at, on: call.on, when: { nth: call.nth }, ...ruleEffects(rule) }, rule.rule)
      else this.#notes.push(`rule ${jsonText(rule.rule)} fired on a call that the journal does not have`)
    }
  }

  #countMatch(at: string, on: JsonObject): number {
    const key = jsonText([at, on])
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count
  }

  #addRule(rule: JsonObject, name = 'what happened before it'): void {
    this.#rules.push({ name: `${this.#rules.length + 1}: ${name}`, ...rule, must_fire: true })
  }
}

const UNSEEN = 'the control API changed an account that no later request was about'

const NO_RULE: JsonObject = {
  name: 'the client and the seed alone cause what happened',
  at: 'service',
  do: [{ latency: '0ms' }],
  must_fire: false,
}

type FiredRule = EntryDocument['rules'][number]

function ruleEffects({ do: faults, off_spec }: FiredRule): JsonObject {
  // A rule without faults only changed the state of its scenario.
  return { do: faults.length > 0 ? (faults as JsonObject[]) : [{ latency: '0ms' }], ...(off_spec && { off_spec }) }
}

/** By how many milliseconds the rules that fired on a request have moved the clock on. */
function advancesIn({ rules }: EntryDocument): number {
  const steps = rules.flatMap((rule) => rule.do).map((fault) => fault['advance_clock'])
  return steps.reduce<number>((sum, by) => sum + (typeof by === 'string' ? Number.parseFloat(by) : 0), 0)
}

/** Whether a bearer token was refused because its time was over. */
function hasExpiredToken({ error_code, response }: EntryDocument): boolean {
  return error_code === 'UNAUTHENTICATED' && bodyMessage(response.body).startsWith('the access token expired')
}

function bodyMessage(body: unknown): string {
  return isJsonObject(body) ? textAt(body, 'message') : ''
}

/** Where a rule acts on an entry, and what it matches; undefined where none can. */
function replayPlace(entry: EntryDocument): { readonly at: string; readonly on: JsonObject } | undefined {
  const { kind, operation, tool, method, path, query, transitions, rules } = entry
  if (kind === 'request' && operation !== null) {
    return { at: 'service', on: { operation, ...(tool !== null && { tool }) } }
  }
  const [, connector] = /^\/third-party\/([^/]+)\/authorize$/.exec(path) ?? []
  const isDecision =
    (method === 'POST' && connector !== undefined) ||
    (kind === 'page' && 'decision' in query) ||
    (kind === 'control' && transitions.some(({ event }) => event.startsWith('consent_'))) ||
    rules.some(({ at }) => at === 'consent')
  return isDecision ? { at: 'consent', on: {} } : undefined
}

/** Whether a request was refused before the rules of scenarios saw it. */
function isRefusedEarly({ error_code, refused_by_check }: EntryDocument): boolean {
  return refused_by_check || errorTraits(error_code).early === true
}

/** The same answer again, where neither the client nor the model gives it: a server of the user's own that a tool calls, a full disk. */
function unexplainedResponse({ status, error_code, upstream, response }: EntryDocument): JsonObject | undefined {
  const isOfUser = upstream.some(isOwnServer)
  const isUnexplained =
    error_code !== null && (UNEXPLAINED.has(error_code) || (error_code === 'TOOL_ERROR' && isOfUser))
  return isUnexplained ? { respond: { status, error_code, message: bodyMessage(response.body) } } : undefined
}

/** Whether a call went to a server of the user's own (`base_url`), which no rule at third_party sees. */
function isOwnServer({ url, environment, connector }: EntryDocument['upstream'][number]): boolean {
  const path = [environment, connector].map((part) => `/${encodeURIComponent(part.toWellFormed())}`).join('')
  return !new URL(url).pathname.startsWith(`${path}/`)
}
