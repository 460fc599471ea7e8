import { batch, computed, signal } from '@preact/signals'
import { ApiError, call, type CallOptions, open, type Schemas, type TimelineEntry } from './api.ts'
import { ALL, environment } from './hash-route.ts'
import { distanceOf } from './format.ts'
import { MAX_ENTRIES, Timeline } from './timeline-entries.ts'

/*
 * The stream of the server: new requests, the clock and changes of the state. `fetch` reads it, because an EventSource cannot
 * send the admin token.
 */

export type Connection = 'connecting' | 'live' | 'lost' | 'refused'
export const connection = signal<Connection>('connecting')
export const timeline = new Timeline()
export const environments = signal<readonly { readonly name: string; readonly label: string | null }[]>([])

/** Counts changes of the environment that is shown. Views load their data again when it changes. */
export const changes = signal(0)

/** The clock of the environment as the server sent it, with the time of the browser at that moment. */
const sentClock = signal<{ now: number; frozen: boolean; at: number } | undefined>(undefined)

/** The time of the browser in milliseconds, updated four times a second while the page can be seen. */
export const realNow = signal(0)

/** When the connection was lost: the clock of the page stands still then, because nobody knows what that of the server does. */
const lostAt = signal<number | undefined>(undefined)
export const isClockKnown = computed(() => lostAt.value === undefined)

export const clockNow = computed(() => {
  const { value } = sentClock
  if (!value) return undefined
  return value.frozen ? value.now : value.now + Math.max(0, (lostAt.value ?? realNow.value) - value.at)
})
/** How far real time is from the clock, such as `in 1 h 00 min`; empty while the clock shows real time. */
export const clockShift = computed(() => {
  const { value: now = realNow.value } = clockNow
  const away = realNow.value - now
  return Math.abs(away) < 5000 ? '' : distanceOf(away)
})

export const clockFrozen = computed(() => sentClock.value?.frozen ?? false)

/** A call that changes something: views load their data again, before the stream says so. */
export async function change<T>(method: string, path: string, options?: CallOptions): Promise<T> {
  const answer = await call<T>(method, path, options)
  changes.value++
  return answer
}

/** Changes the clock, and shows it before the stream sends it. */
export async function changeClock(body: Schemas['ClockChange']): Promise<Schemas['MovedClock']> {
  const moved = await change<Schemas['MovedClock']>('PUT', '/clock', { body })
  showClock(moved)
  return moved
}

function showClock(clock: Schemas['Clock'] | null): void {
  realNow.value = realTime()
  sentClock.value = clock ? { now: Date.parse(clock.now), frozen: clock.frozen, at: realNow.value } : undefined
}

function realTime(): number {
  return performance.timeOrigin + performance.now()
}

/** Reads the stream of the environment in the URL, and connects again after the stream ends. */
export function follow(): void {
  environment.subscribe(() => {
    timeline.clear()
    reconnect()
  })
  setInterval(() => {
    if (document.visibilityState === 'visible') realNow.value = realTime()
  }, 250)
}

let reading = new AbortController()

/** Connects again, which also loads the entries that were skipped. */
export function reconnect(): void {
  reading.abort()
  reading = new AbortController()
  void keepReading(environment.value, reading.signal)
}

/** Reads the stream until `stop` aborts. After the stream ends it connects again, with longer pauses after each failure. */
async function keepReading(name: string, stop: AbortSignal): Promise<void> {
  let pause = SHORTEST_PAUSE
  for (;;) {
    const refused = await read(name, stop, () => (pause = SHORTEST_PAUSE)).then(
      () => undefined,
      (error: unknown) =>
        error instanceof ApiError && error.status >= 400 && error.status !== 503 ? error : undefined,
    )
    if (stop.aborted) return
    problem.value = refused
    connection.value = refused ? 'refused' : 'lost'
    lostAt.value ??= realTime()
    // Without the admin token the next attempt is refused as well. A deleted environment can be created again.
    if (refused?.status === 401) return
    await new Promise((resolve) => setTimeout(resolve, pause))
    pause = Math.min(pause * 2, MAX_PAUSE)
  }
}

const SHORTEST_PAUSE = 250
const MAX_PAUSE = 5000

/** Why the server refused the stream, for example because the environment does not exist or the admin token is missing. */
export const problem = signal<ApiError | undefined>(undefined)

interface StreamState {
  readonly environments: typeof environments.value
  readonly clock: Schemas['Clock'] | null
  readonly started_at: string
}

/** When the server was started that the stream came from last. */
let startedAt: string | undefined

async function read(name: string, stop: AbortSignal, connected: () => void): Promise<void> {
  const query = { newest: MAX_ENTRIES, environment: name === ALL ? undefined : name }
  const response = await open('GET', '/timeline', { query, signal: stop })
  connected()
  batch(() => {
    problem.value = undefined
    connection.value = 'live'
    // What a view has loaded before the connection was lost can be old.
    if (lostAt.value !== undefined) changes.value++
    lostAt.value = undefined
  })
  let first = true
  for await (const { event, data } of eventsOf(response, stop)) {
    batch(() => {
      if (event === 'entries') {
        const { entries, skipped } = JSON.parse(data) as { entries: TimelineEntry[]; skipped: number }
        if (first) timeline.replace(entries)
        else {
          timeline.add(entries, skipped)
          // Requests change counts and findings, for which the server sends no `state` event.
          announceChange()
        }
        first = false
      } else if (event === 'cleared') {
        timeline.clear((JSON.parse(data) as { environment: string }).environment)
      } else if (event === 'state') {
        const state = JSON.parse(data) as StreamState
        if (startedAt !== undefined && startedAt !== state.started_at) timeline.restarted(state.started_at)
        startedAt = state.started_at
        environments.value = state.environments
        showClock(state.clock)
        announceChange()
      }
    })
  }
}

let announced: ReturnType<typeof setTimeout> | undefined
function announceChange(): void {
  announced ??= setTimeout(() => {
    announced = undefined
    changes.value++
  }, 1000)
}

/** Server-sent events of a response; comments are left out. */
async function* eventsOf(
  response: Response,
  stop: AbortSignal,
): AsyncGenerator<{ readonly event: string; readonly data: string }> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream(), { signal: stop }).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(part) ?? []
      if (event !== undefined && data !== undefined) yield { event, data }
    }
  }
}
