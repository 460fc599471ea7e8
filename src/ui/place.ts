import { computed, signal } from '@preact/signals'

/*
 * Where the reader is. The address behind the `#` says it all, so that everything can be linked to and the back button works:
 * `#/accounts/ca_1?environment=worker-2`.
 */

export const VIEWS = ['timeline', 'accounts', 'links', 'clock', 'scenarios', 'contract', 'data'] as const
export type View = (typeof VIEWS)[number]

export interface Place {
  readonly view: View
  /** What is open in it; empty for none. */
  readonly id: string
  readonly parameters: Readonly<Record<string, string>>
}

/** What `?environment=` says for all environments at once. */
export const ALL = '*'

export function readPlace(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [name = '', ...rest] = path.split('/')
  const view = VIEWS.find((each) => each === name) ?? 'timeline'
  return { view, id: decode(rest.join('/')), parameters: Object.fromEntries(new URLSearchParams(search)) }
}

export function hashOf({ view, id, parameters }: Place): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '')
  const search = new URLSearchParams(given).toString()
  return `#/${view}${id === '' ? '' : `/${encodeURIComponent(id)}`}${search === '' ? '' : `?${search}`}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const place = signal<Place>(readPlace(''))

/** The environment that all views but those of all environments are about. */
export const environment = computed(() => place.value.parameters['environment'] ?? 'default')

/** The address of another place; the environment stays. */
export function linkTo(view: View, id = '', parameters: Readonly<Record<string, string>> = {}): string {
  const { environment: kept = '' } = place.value.parameters
  // The views of one environment have nothing to show for all of them.
  const shared = kept === ALL && view !== 'timeline' && view !== 'contract' ? '' : kept
  return hashOf({ view, id, parameters: { environment: shared, ...parameters } })
}

/** Goes to a place as a link does. */
export function go(view: View, id = '', parameters: Readonly<Record<string, string>> = {}): void {
  location.hash = linkTo(view, id, parameters)
}

/** Changes parameters of this place. No step for the back button, because typing would make many. */
export function adjust(parameters: Readonly<Record<string, string>>): void {
  const next = { ...place.value, parameters: { ...place.value.parameters, ...parameters } }
  history.replaceState(null, '', hashOf(next))
  arrive()
}

const KEPT = 'toolmock-place'

function arrive(): void {
  place.value = readPlace(location.hash)
  localStorage.setItem(KEPT, location.hash)
}

/** Goes where the reader was last, unless the address names a place. */
export function followAddress(): void {
  const kept = localStorage.getItem(KEPT)
  if (location.hash === '' && kept !== null) history.replaceState(null, '', kept)
  arrive()
  addEventListener('hashchange', arrive)
}
