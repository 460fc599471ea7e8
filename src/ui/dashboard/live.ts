import { batch, computed, signal } from '@preact/signals'
import type { CallOptions, Query, Schemas, TimelineEntry } from './api.ts'
import { addressOf, adminToken, ApiError, call, change, changes, refusal } from './api.ts'
import { distanceOf } from './format.ts'
import { ALL, environment } from './hash-route.ts'
import type { AddressedMessage, StreamMessage, StreamRequest } from './stream.ts'
import { MAX_ENTRIES, Timeline } from './timeline-entries.ts'

/*
 * The stream of the server: new requests, the clock and changes of the state. `fetch` reads it, because an EventSource cannot
 * send the admin token.
 */

export type Connection = 'connecting' | 'live' | 'waiting' | 'silent' | 'lost' | 'refused'
const connection = signal<Connection>('connecting')

/** When the server was last heard of, in milliseconds of the browser. It sends something every two seconds. */
const beatAt = signal(0)

/** A server that accepts connections and sends nothing is not live. */
export const connectionState = computed((): Connection => {
  const { value: state } = connection
  const silence = realNow.value - beatAt.value
  if (silence < 5000 || state === 'lost' || state === 'refused') return state
  return silence < 15_000 ? 'waiting' : 'silent'
})
export const timeline = new Timeline()
export const environments = signal<readonly { readonly name: string; readonly label: string | null }[]>([])

/** The environments to choose from, by what they are called. */
export function environmentOptions(): [name: string, text: string][] {
  return environments.value.map(({ name, label }) => [name, label === null ? name : `${name}: ${label}`])
}

/** The requests of an environment, or those of each of all. */
export function requestsIn(environment: string, query: Query, signal?: AbortSignal): Promise<Schemas['Requests'][]> {
  const names = environment === ALL ? environments.value.map(({ name }) => name) : [environment]
  const options = (name: string): CallOptions => ({ query: { ...query, environment: name }, ...(signal && { signal }) })
  return Promise.all(names.map((name) => call<Schemas['Requests']>('GET', '/requests', options(name))))
}

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
  return Math.abs(realNow.value - now) < 5000 ? '' : distanceOf(realNow.value, now)
})

export const clockFrozen = computed(() => sentClock.value?.frozen ?? false)

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

/** Follows the stream of the environment in the URL while the page can be seen. */
export function follow(): void {
  environment.subscribe(() => {
    timeline.clear()
    void reconnect()
  })
  setInterval(() => {
    if (document.visibilityState === 'visible') realNow.value = realTime()
  }, 250)
  document.addEventListener('visibilitychange', () => void reconnect())
}

/** Begins the stream again, which also loads the entries that were skipped. A hidden page has none. */
export async function reconnect(): Promise<void> {
  const isVisible = document.visibilityState === 'visible'
  const query = { newest: MAX_ENTRIES, environment: environment.value === ALL ? undefined : environment.value }
  const address = new URL(addressOf('/timeline', query), location.href).href
  const request: StreamRequest | null = isVisible ? { address, token: adminToken() } : null
  followed = isVisible ? address : ''
  beatAt.value = realTime()
  const port = await (streamPort ??= openStreamPort())
  port.postMessage(request)
}

/** The address of the stream, empty for none. */
let followed = ''

let streamPort: Promise<MessagePort> | undefined

/** To the shared worker, or to the same module in this page where the browser has none. */
function openStreamPort(): Promise<MessagePort> {
  const inPage = async (): Promise<MessagePort> => {
    const { port1, port2 } = new MessageChannel()
    const { serve } = await import('./stream.ts')
    serve(port1)
    return port2
  }
  const port = 'SharedWorker' in globalThis ? Promise.resolve(sharedWorker().port) : inPage()
  return port.then((opened) => {
    opened.onmessage = ({ data }: MessageEvent<AddressedMessage>) => {
      if (data.address === followed) batch(() => receive(data))
    }
    return opened
  })
}

/** The content security policy allows the policy of this name alone, which allows this script alone. */
function sharedWorker(): SharedWorker {
  const script = 'ui/stream.js'
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const policy = trustedTypes?.createPolicy('toolmock', { createScriptURL: () => script })
  return new SharedWorker((policy?.createScriptURL('') ?? script) as string, { type: 'module', name: 'toolmock' })
}

interface TrustedTypes {
  createPolicy: (
    name: string,
    rules: { createScriptURL: () => string },
  ) => { createScriptURL: (text: string) => unknown }
}

/** Why the server refused the stream, for example because the environment does not exist or the admin token is missing. */
export const problem = signal<ApiError | undefined>(undefined)

interface StreamState {
  readonly environments: typeof environments.value
  readonly clock: Schemas['Clock'] | null
  readonly started_at: string
}

/** When the server was started that the stream came from last. */
let startedAt: string | undefined

/** Whether the next entries are all that there are. */
let isFirst = true

function receive(message: StreamMessage): void {
  beatAt.value = realTime()
  if (message.kind === 'connected') {
    isFirst = true
    problem.value = undefined
    connection.value = 'live'
    // What a view has loaded before the connection was lost can be old.
    if (lostAt.value !== undefined) changes.value++
    lostAt.value = undefined
  } else if (message.kind === 'ended') {
    const { status } = message
    problem.value = status === 0 ? undefined : refusal(new ApiError(status, message.message))
    connection.value = status === 0 ? 'lost' : 'refused'
    lostAt.value ??= realTime()
  } else if (message.kind === 'event') receiveEvent(message.event, message.data)
}

function receiveEvent(event: string, data: string): void {
  if (event === 'entries') {
    const { entries, skipped } = JSON.parse(data) as { entries: TimelineEntry[]; skipped: number }
    if (isFirst) timeline.replace(entries)
    else {
      timeline.add(entries, skipped)
      // Requests change counts and findings, for which the server sends no `state` event.
      announceChange()
    }
    isFirst = false
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
}

let announced: ReturnType<typeof setTimeout> | undefined
function announceChange(): void {
  announced ??= setTimeout(() => {
    announced = undefined
    changes.value++
  }, 1000)
}
