import { foldCase } from '../../model/domain/fold-case.ts'
import { jsonText } from '../../model/domain/json.ts'
import type { EntryDocument, StoredEntry } from './entry.ts'
import { requestText, responseText, entryView } from './view.ts'

/** The entries that have every word of a text. A word may also be in `about`: the label of the test, for one. */
export function withText(entries: readonly StoredEntry[], text: string, about: string): readonly StoredEntry[] {
  const ofAll = foldCase(about)
  const words = foldCase(text)
    .split(/\s+/)
    .filter((word) => !ofAll.includes(word))
  return words.length === 0 ? entries : entries.filter((entry) => entryHasWords(entry, words))
}

/** Searches what a reader sees, so that no secret can be guessed. Most entries are told apart by their raw text, at less cost. */
function entryHasWords(entry: StoredEntry, words: readonly string[]): boolean {
  // An escape makes what is shown differ from what was sent.
  const raw = rawText(entry)
  if (!/[\\%+]/.test(raw) && !words.every((word) => raw.includes(word))) return false
  const text = shownText(entryView(entry))
  return words.every((word) => text.includes(word))
}

function rawText(entry: StoredEntry): string {
  const { trace, requestHeaders, responseHeaders, errorCode, mcpClient, environment } = entry
  const { account, rules, upstream, execution_id, agent_run_id } = trace
  const parts = [entry.id, entry.kind, entry.operation, entry.method, entry.url, entry.status, errorCode, entry.client]
  const bodies = [requestText(entry), responseText(entry), ...requestHeaders]
  const caused = { responseHeaders, account, rules, upstream, execution_id, agent_run_id }
  return foldCase([...parts, mcpClient, environment, entry.failure, ...bodies, searchableText(caused)].join(' '))
}

function shownText({ request, response, ...view }: EntryDocument): string {
  const parts = [view.id, view.kind, view.operation, view.method, view.path, view.status, view.error_code, view.client]
  const caused = [view.mcp_client, view.environment, view.account, view.tool, view.execution, view.agent_run_id]
  const who = [view.account_state?.identifier, view.account_state?.connector, view.failure]
  const rules = view.rules.map(({ scenario, rule }) => `${scenario} ${rule}`)
  const calls = view.upstream.map(({ method, url, status, answer }) => [method, url, status, answer].join(' '))
  const messages = searchableText([view.query, request.headers, request.body, response.headers, response.body])
  return foldCase([...parts, ...caused, ...who, ...rules, ...calls, messages].join(' '))
}

/** Names and values, at every depth. */
function searchableText(value: unknown): string {
  if (Array.isArray(value)) return value.map(searchableText).join(' ')
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return value === undefined ? '' : jsonText(value)
  return Object.entries(value)
    .map(([name, inside]) => `${name} ${searchableText(inside)}`)
    .join(' ')
}
