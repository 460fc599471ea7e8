import { batch, computed, effect, signal } from '@preact/signals'
import { ApiError, open, type Schemas, type TimelineEntry } from './api.ts'
import { ALL, environment } from './hash-route.ts'
import { Timeline } from './timeline-entries.ts'

/*
 * What the server sends by itself: new requests, the clock, and that something changed. The stream is read by `fetch`, because
 * an EventSource cannot send the admin token.
 */

export type Connection = 'connecting' | 'live' | 'lost' | 'refused'
export const connection = signal<Connection>('connecting')
export const timeline = new Timeline()
export const environments = signal<readonly { readonly name: string; readonly label: string | null }[]>([])

/** Changes with every change of the environment that is shown, at most once a second: what a view asks for, it asks again. */
export const changes = signal(0)

/** The clock of the environment as the server sent it, and when. */
const sentClock = signal<{ now: number; frozen: boolean; at: number } | undefined>(undefined)

/** The time of the browser in milliseconds, updated four times a second while the page can be seen. */
export const realNow = signal(0)

/** Milliseconds of the environment's clock, moving on as it does; undefined where all environments are shown. */
export const clockNow = computed(() => {
  const { value } = sentClock
  if (!value) return undefined
  return value.frozen ? value.now : value.now + Math.max(0, realNow.value - value.at)
})
export const clockFrozen = computed(() => sentClock.value?.frozen ?? false)

/** Takes over a clock that a call has answered, before the stream sends it. */
export function showClock(clock: Schemas['Clock'] | null): void {
  realNow.value = realTime()
  sentClock.value = clock ? { now: Date.parse(clock.now), frozen: clock.frozen, at: realNow.value } : undefined
}

function realTime(): number {
  return performance.timeOrigin + performance.now()
}

/** The most entries that are asked for, and kept. */
const NEWEST = 10_000
/** Follows the environment that the address names, and connects again by itself. */
export function follow(): void {
  effect(() => {
    const asked = environment.value
    const over = new AbortController()
    void keepReading(asked, over.signal)
    return () => over.abort()
  })
  setInterval(() => {
    if (document.visibilityState === 'visible') realNow.value = realTime()
  }, 250)
}

/** Connects again, for what was skipped. */
const again = signal(0)
export function reconnect(): void {
  again.value++
}

/** Reads the stream until the reader goes elsewhere; after its end again, with longer and longer pauses between failures. */
async function keepReading(asked: string, over: AbortSignal): Promise<void> {
  let pause = SHORTEST_PAUSE
  for (let at = again.peek(); !isOver(over); at = again.peek()) {
    const stop = new AbortController()
    const unsubscribe = again.subscribe((value) => {
      if (value !== at) stop.abort()
    })
    const both = AbortSignal.any([over, stop.signal])
    const refused = await read(asked, both, () => (pause = SHORTEST_PAUSE)).then(
      () => undefined,
      (error: unknown) =>
        error instanceof ApiError && error.status >= 400 && error.status !== 503 ? error : undefined,
    )
    if (!isOver(both)) {
      problem.value = refused
      connection.value = refused ? 'refused' : 'lost'
      // Without the token it is refused again. An environment that is gone can come back.
      await waiting(refused?.status === 401 ? Infinity : pause, both)
      pause = Math.min(pause * 2, MAX_PAUSE)
    }
    unsubscribe()
  }
}

const SHORTEST_PAUSE = 250
const MAX_PAUSE = 5000

function isOver({ aborted }: AbortSignal): boolean {
  return aborted
}

function waiting(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = milliseconds === Infinity ? undefined : setTimeout(resolve, milliseconds)
    stop.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Why the stream was refused: no such environment, or no admin token. */
export const problem = signal<ApiError | undefined>(undefined)

async function read(asked: string, stop: AbortSignal, connected: () => void): Promise<void> {
  const query = { newest: NEWEST, ...(asked === ALL ? {} : { environment: asked }) }
  const response = await open('GET', '/timeline', { query, signal: stop })
  connected()
  batch(() => {
    problem.value = undefined
    connection.value = 'live'
    changes.value++
  })
  let first = true
  for await (const { event, data } of eventsOf(response, stop)) {
    batch(() => {
      if (event === 'entries') {
        const { entries, skipped } = JSON.parse(data) as { entries: TimelineEntry[]; skipped: number }
        if (first) timeline.replace(entries)
        else {
          timeline.add(entries, skipped)
          // Requests change counts and findings without a commit.
          announceChange()
        }
        first = false
      } else if (event === 'cleared') {
        timeline.clear((JSON.parse(data) as { environment: string }).environment)
      } else if (event === 'state') {
        const state = JSON.parse(data) as { environments: typeof environments.value; clock: Schemas['Clock'] | null }
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
      const lines = part.split('\n')
      const field = (name: string): string =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ''
      const event = field('event')
      if (event !== '') yield { event, data: field('data') }
    }
  }
}
