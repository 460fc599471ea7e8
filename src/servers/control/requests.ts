import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { AppServices } from './app-services.ts'
import { isJsonObject, type JsonObject, jsonText, ownMember } from '../../model/domain/json.ts'
import { maskJson } from '../../model/domain/masking.ts'
import type { Provider } from '../../model/domain/provider.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../model/domain/settings.ts'
import { quote } from '../../model/domain/text.ts'
import { isWithin, timesRange, timesText } from '../../model/domain/times.ts'
import { LATEST_REQUESTS, latestRequestsText, matchedText } from '../../model/domain/value-match.ts'
import { StreamWriter } from '../http/stream-writer.ts'
import type { EntryDocument, StoredEntry } from '../../journal/request-journal/entry.ts'
import { explainEntry } from '../../journal/request-journal/explain.ts'
import { entryEvents, type Journal, type JournalEvent } from '../../journal/request-journal/journal.ts'
import { type Match, readJournalQuery, readMatch } from '../../journal/request-journal/query.ts'
import { replayOf } from '../../journal/request-journal/replay.ts'
import { entryView as viewOfEntry } from '../../journal/request-journal/view.ts'
import { preparePatterns } from '../../model/domain/text-pattern.ts'
import type { Environment } from '../../state/environment.ts'
import { type ControlHandlers, type ControlReply, environmentNamed, goneSignal } from './call.ts'
import { clockView } from './clock.ts'
import { labelOf } from './environments.ts'
import { ControlError } from './errors.ts'

export const requestHandlers = {
  list_requests: ({ services, environment, journal, query }) => {
    const read = readJournalQuery(query, services.extensions.names)
    return { body: journal.search(read, `${environment.name} ${labelOf(environment) ?? ''}`) }
  },
  clear_requests: ({ journal }) => ({ body: {}, onceDurable: () => journal.clearUntilRestored() }),
  restore_requests: ({ journal }) => ({ body: { restored: journal.restore() } }),
  count_requests: async ({ services, journal, body: { match, times } }) => {
    await preparePatterns(jsonText(match ?? null))
    const count = journal.count(readMatch(match, services.extensions.names))
    return { body: { count, ...(times !== undefined && { ok: isWithin(timesRange(times), count) }) } }
  },
  verify_requests: async ({ services, journal, body: { match, times, in_order } }) => {
    await preparePatterns(jsonText(in_order ?? match ?? null))
    const readEach = (each: unknown): Match => readMatch(each, services.extensions.names)
    return { body: in_order ? journal.verifyOrder(in_order.map(readEach)) : journal.verify(readEach(match), times) }
  },

  wait_for_requests: async ({ services, environment, journal, response, body }) => {
    const { match, times = 1, timeout_ms: timeoutMs } = body
    await preparePatterns(jsonText(match ?? null))
    const signal = goneSignal({ services, response })
    const result = await journal.wait(readMatch(match, services.extensions.names), { times, timeoutMs, signal })
    if (result.ok) return { body: result }
    const { ok: _ok, ...counts } = result
    const over = services.closing.aborted
      ? 'the server stops'
      : environment.isRemoved
        ? 'the environment was removed'
        : counts.matched > timesRange(times).most && typeof times === 'object'
          ? 'there are too many'
          : 'the time is over'
    const wanted = timesText(typeof times === 'number' ? { at_least: times } : times)
    const requests = journal.entries().filter(({ kind }) => kind === 'request')
    const latest = latestRequestsText(requests.slice(-LATEST_REQUESTS).map(viewOfEntry), environment.name)
    const message = `${matchedText(counts, match ?? {}, wanted)}, and ${over}`
    throw new ControlError('TIMED_OUT', counts.near_misses.length > 0 ? message : `${message}; ${latest}`, [counts])
  },

  get_request: ({ journal, path }) => ({ body: { request: journal.find(path.id) ?? requestNotFound(path.id) } }),

  explain_request: ({ journal, environment, path }) => ({
    body: explainEntry(journal, path.id, environment) ?? requestNotFound(path.id),
  }),

  /** What reproduces it: a scenario of the journal up to a request, and what was there at the start as a seed. */
  export_scenario: ({ journal, environment, path }) => {
    const { accounts, providers } = environment.model.tables
    const entries = journal.entries().map(viewOfEntry)
    const rows = [...accounts.values()].map(({ token_expires_at = null, ...account }) => ({
      ...account,
      token_expires_at,
    }))
    const replay = replayOf(entries, path.id, rows) ?? requestNotFound(path.id)
    const providerIds = new Set(entries.flatMap(providerMadeBy))
    const custom = [...providers.values()].filter(
      ({ is_custom, identifier }) => is_custom && !providerIds.has(identifier),
    )
    const settings = seedSettings(environment.settings)
    const seed = {
      ...(Object.keys(settings).length > 0 && { settings }),
      ...(custom.length > 0 && { providers: custom.map(seedProvider) }),
      ...replay.seed,
    }
    // It is passed on and checked in; what it needs of secrets its reader fills in.
    return { body: { ...replay, seed: maskJson(seed as JsonObject) } }
  },

  /** Server-sent events: journal entries and status changes of the environment as they happen. */
  stream_events: ({ services, journal, request, response }) =>
    eventStream(services, request, response, (write) => {
      write(': toolmock events\n\n')
      const send = (entry: StoredEntry): void => {
        write(entryEvents(entry).map(serverSentEvent).join(''))
        if (response.writableLength <= MAX_UNREAD || response.destroyed) return
        services.log.warn('an event stream was closed: its client leaves too much unread', {
          unread_bytes: response.writableLength,
        })
        response.destroy()
      }
      const stop = journal.subscribe(send, () => response.end())
      response.on('close', stop)
    }),

  /**
   * Server-sent events for a screen. They are made from the journals and not with each entry, so that what they cost does not
   * grow with the load: after a pause within a quarter of a second, and twice a second while requests keep coming.
   */
  stream_timeline: ({ services, query, request, response }) => {
    const { registry, journals } = services
    const only = query.environment === undefined ? undefined : environmentNamed(services, query.environment)
    return eventStream(services, request, response, (write) => {
      // A stream that stays open keeps no journal of an environment that is removed.
      const positions = new WeakMap<Journal, { appended: number; cleared: number }>()
      let revision = -1
      let first = true
      const send = (event: string, data: object): void => write(`event: ${event}\ndata: ${jsonText(data)}\n\n`)
      /** @returns whether there were any entries */
      const sendNew = (most: number): boolean => {
        const environments = only ? [only] : registry.environments()
        sendState(environments)
        const lists = environments.map((environment) => {
          const journal = journals.of(environment)
          const { appended, cleared } = journal
          const before = positions.get(journal) ?? { appended: 0, cleared }
          positions.set(journal, { appended, cleared })
          if (before.cleared === cleared) return journal.timeline(before.appended, most)
          send('cleared', { environment: environment.name })
          // What the journal has now comes again from the first.
          most = Math.max(most, query.newest)
          return journal.timeline(0, most)
        })
        const all = lists.flatMap(({ entries }) => entries)
        if (lists.length > 1) all.sort((a, b) => (a.real_at < b.real_at ? -1 : a.real_at > b.real_at ? 1 : 0))
        const entries = all.slice(-most)
        const skipped = lists.reduce((sum, list) => sum + list.skipped, all.length - entries.length)
        const isNew = entries.length > 0 || skipped > 0
        if (first || isNew) send('entries', { entries, skipped })
        first = false
        return isNew
      }
      const sendState = (environments: readonly Environment[]): void => {
        const all = registry.environments()
        const now = environments.reduce((sum, { commits, rollbacks }) => sum + commits + rollbacks, all.length)
        if (now === revision) return
        revision = now
        const environmentNames = all.map((environment) => ({ name: environment.name, label: labelOf(environment) }))
        send('state', {
          environments: environmentNames,
          clock: only ? clockView(only) : null,
          revision,
          started_at: services.startedAt,
        })
      }
      sendNew(query.newest)
      let isResting = false
      const timer = setInterval(() => {
        if (only?.isRemoved === true) return void response.end()
        // A slow reader gets fewer entries, and their number in `skipped`.
        if (response.writableLength > MAX_UNREAD) return
        isResting = !isResting && sendNew(MAX_AT_ONCE)
      }, TIMELINE_MS)
      timer.unref()
      response.on('close', () => clearInterval(timer))
    })
  },
} satisfies Partial<ControlHandlers>

function providerMadeBy({ operation, response: { body } }: EntryDocument): string[] {
  const provider =
    operation === 'create_custom_provider' && isJsonObject(body) ? ownMember(body, 'provider') : undefined
  const identifier = isJsonObject(provider) ? ownMember(provider, 'identifier') : undefined
  return typeof identifier === 'string' ? [identifier] : []
}

function seedProvider({ is_custom: _custom, is_custom_mcp: _mcp, created_as: _name, ...provider }: Provider): object {
  return provider
}

/** The settings that are not the default, as a seed has them. */
function seedSettings(settings: Settings): object {
  const changed = (Object.entries(settings) as [keyof Settings, Settings[keyof Settings]][]).filter(
    ([name, value]) => !isDeepStrictEqual(value, DEFAULT_SETTINGS[name]),
  )
  return Object.fromEntries(changed.map(([name, value]) => [name, typeof value === 'number' ? `${value}ms` : value]))
}

function requestNotFound(id: string): never {
  const message = `the request journal has no request ${quote(id)}; ids are those of X-Request-Id: npx toolmock logs shows them, and each environment has a journal of its own (--environment NAME)`
  throw new ControlError('REQUEST_NOT_FOUND', message)
}

/** Proxies and clients close a connection that stays silent, and the dashboard says that a server is. */
const HEARTBEAT_MS = 2000

/** Bytes of events that a slow reader has not taken yet. Beyond that its connection is closed, and it has to connect again. */
const MAX_UNREAD = 4 * 1024 * 1024

/**
 * Ends when the server closes. The answer to HEAD has no events, so it is whole. @param follow is given what writes an
 * event, unless the stream has ended: a slow reader takes its end later @throws ControlError TOO_MANY_STREAMS
 */
function eventStream(
  { eventStreams, closing, registry }: AppServices,
  { method }: IncomingMessage,
  response: ServerResponse,
  follow: (write: (event: string) => void) => void,
): ControlReply {
  const { open, most } = eventStreams
  if (open.size >= most) {
    const message = `${most} event streams are open, and no more may be; close one of them`
    throw new ControlError('TOO_MANY_STREAMS', message)
  }
  open.add(response)
  response.once('close', () => open.delete(response))
  const stream = (): void => {
    const writer = new StreamWriter(response, registry)
    writer.begin(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' })
    const end = (): void => writer.end()
    if (method === 'HEAD' || closing.aborted || response.destroyed) {
      end()
      return
    }
    const write = (event: string): void => void writer.write(event)
    const heartbeat = setInterval(() => write(': still there\n\n'), HEARTBEAT_MS)
    heartbeat.unref()
    closing.addEventListener('abort', end)
    response.on('close', () => {
      clearInterval(heartbeat)
      closing.removeEventListener('abort', end)
    })
    follow(write)
  }
  return { stream }
}

/** How often a timeline looks for what is new, and how many entries it sends at most: more cannot be read on a screen. */
const TIMELINE_MS = 250
const MAX_AT_ONCE = 1000

/** JSON has no line breaks outside of strings, and escapes those inside. */
function serverSentEvent(event: JournalEvent): string {
  if (event.event === 'entry') return `event: entry\nid: ${event.entry.id}\ndata: ${jsonText(event.entry)}\n\n`
  const { environment, entry, transition } = event
  return `event: transition\ndata: ${jsonText({ environment, entry, transition })}\n\n`
}
