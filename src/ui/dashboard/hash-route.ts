import { computed, signal } from '@preact/signals'
import { percentDecoded } from '../../model/domain/text.ts'

/*
 * The route of the dashboard: view, open item and parameters, all in the hash of the URL, so that links and the back button work:
 * `#/accounts/ca_1?environment=worker-2`.
 */

/** Each view with its title, and the key that is pressed for it after `g`. */
export const VIEWS = {
  timeline: { title: 'Timeline', key: 't' },
  accounts: { title: 'Accounts', key: 'a' },
  links: { title: 'Links', key: 'l' },
  clock: { title: 'Clock', key: 'c' },
  scenarios: { title: 'Scenarios', key: 's' },
  contract: { title: 'Contract', key: 'v' },
  runs: { title: 'Runs', key: 'r' },
  webhooks: { title: 'Webhooks', key: 'w' },
  connectors: { title: 'Connectors', key: 'n' },
  collections: { title: 'Collections', key: 'd' },
  snapshots: { title: 'Snapshots', key: 'p' },
} as const
export type View = keyof typeof VIEWS
export const VIEW_NAMES = Object.keys(VIEWS) as View[]

export interface HashRoute {
  readonly view: View
  /** The name in the URL where no view has it. */
  readonly unknown?: string
  readonly id: string
  readonly parameters: Readonly<Record<string, string>>
}

/** The id of a scenario or a link that is not there yet. A space is not allowed in the name of a scenario. */
export const NEW = 'a new one'

/** The value of `?environment=` for all environments at once. */
export const ALL = '*'

export function readHash(hash: string): HashRoute {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [name = '', ...segments] = path.split('/')
  const viewName = VIEW_NAMES.find((each) => each === name)
  const parameters = Object.fromEntries(new URLSearchParams(search))
  const unknown = viewName === undefined && name !== '' ? { unknown: percentDecoded(name) ?? name } : {}
  const id = segments.join('/')
  return { view: viewName ?? 'timeline', id: percentDecoded(id) ?? id, parameters, ...unknown }
}

export function hashOf({ view, unknown, id, parameters }: HashRoute): string {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== '')
  const search = new URLSearchParams(pairs).toString()
  return `#/${unknown === undefined ? view : encodeURIComponent(unknown)}${id === '' ? '' : `/${encodeURIComponent(id)}`}${search === '' ? '' : `?${search}`}`
}

export const route = signal<HashRoute>(readHash(''))

export const environment = computed(() => route.value.parameters['environment'] ?? 'default')

/** The environment of the open request, else the one that is shown, as a parameter of a call; empty while all are shown. */
export function inEnvironment(): { environment?: string } {
  const name = route.value.parameters['in'] ?? environment.value
  return name === ALL ? {} : { environment: name }
}

/** The hash of another route; the environment stays. */
export function linkTo(view: View, id = '', parameters: Readonly<Record<string, string>> = {}): string {
  const { environment: currentEnvironment = '' } = route.value.parameters
  // Only the timeline and the contract can show all environments.
  const shared = currentEnvironment === ALL && view !== 'timeline' && view !== 'contract' ? '' : currentEnvironment
  return hashOf({ view, id, parameters: { environment: shared, ...parameters } })
}

/** Goes to a route as a link does. */
export function go(view: View, id = '', parameters: Readonly<Record<string, string>> = {}): void {
  location.hash = linkTo(view, id, parameters)
}

/** Closes the open item; the list stays as it is. */
export function closeItem(): void {
  const { view, parameters } = route.value
  go(view, '', { ...parameters, ...NO_ITEM })
}

/** What says how an item is shown. */
export const NO_ITEM = { in: '', tab: '', with: '', within: '' }

/** Shows another environment. The view stays; its open item is closed. */
export function enter(name: string): void {
  go(route.value.view, '', { environment: name === 'default' ? '' : name })
}

/** Changes parameters of the current route. It adds no entry to the history, because typing would add many. */
export function setParameters(parameters: Readonly<Record<string, string>>): void {
  const next = { ...route.value, parameters: { ...route.value.parameters, ...parameters } }
  history.replaceState(null, '', hashOf(next))
  readLocation()
}

const STORAGE_KEY = 'toolmock-place'

function readLocation(): void {
  route.value = readHash(location.hash)
  localStorage.setItem(STORAGE_KEY, location.hash)
}

/** Goes to the route of the last visit, unless the URL has one. */
export function startRouting(): void {
  const storedHash = localStorage.getItem(STORAGE_KEY)
  if (location.hash === '' && storedHash !== null) history.replaceState(null, '', storedHash)
  readLocation()
  addEventListener('hashchange', readLocation)
}
