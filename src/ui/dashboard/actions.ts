import { signal } from '@preact/signals'
import { ALL, environment, go, NEW, route, setParameters, VIEW_NAMES, VIEWS } from './hash-route.ts'
import type { IconName } from './icons.tsx'
import type { Keys } from './keyboard.ts'
import { changeClock, clockFrozen, timeline } from './live.ts'

/** What a key does, what the list of shortcuts says, and what the palette offers: each action is here once. */
export interface Action {
  /** The keys for it, one after the other; none for an action that only the palette has. */
  readonly keys?: string
  readonly text: string
  readonly icon?: IconName
  /** Absent where what is done depends on what is open: the component that shows it listens to the key. */
  readonly act?: () => unknown
}

export const NO_FILTER = { q: '', operation: '', status: '', account: '', mark: '', kind: '' }

/** What keys do in the timeline, and the palette everywhere. */
const TIMELINE_ACTIONS: readonly Action[] = [
  { keys: 'p', text: 'Pause or resume the timeline', act: () => timeline.togglePause() },
  { keys: 'e', text: 'Errors only, or all', act: toggled('status', 'error') },
  { keys: 'v', text: 'Violations only, or all', act: toggled('mark', 'violation') },
  { keys: 't', text: 'Group by test, or not', act: toggled('by', 'test') },
  { keys: '0', text: 'No filter', act: () => inTimeline({ ...NO_FILTER, by: '' }) },
  { text: 'Slowest requests first, or the newest', act: toggled('sort', '-took') },
  { text: "Real time first, or the mock's", act: toggled('times', 'real') },
].map((action) => ({ ...action, icon: 'timeline' }))

export function timelineKeys(): Keys {
  return Object.fromEntries(TIMELINE_ACTIONS.flatMap(({ keys, act }) => (keys && act ? [[keys, act]] : [])))
}

/** The open dialog. */
export const dialog = signal<'help' | 'palette' | ''>('')

/** What has happened and can be undone, or waits for a decision. It stays until it is answered, or another takes its place. */
interface Message {
  readonly text: string
  /** Of a question, which is a dialog. */
  readonly title?: string
  readonly isError?: true
  readonly actions?: readonly (readonly [label: string, act: () => unknown])[]
}
export const notice = signal<Message | undefined>(undefined)

/** Carries out what a button or a key asks for; a notice says why it failed. */
export async function perform(act: () => unknown): Promise<void> {
  try {
    await act()
  } catch (error) {
    notice.value = { text: error instanceof Error ? error.message : String(error), isError: true }
  }
}

/** All that can be done by a key or from the palette. */
export function allActions(): Action[] {
  return [
    ...VIEW_NAMES.map((view): Action => {
      const { title, key } = VIEWS[view]
      return { keys: `g ${key}`, text: `Go to ${title}`, icon: view, act: () => go(view) }
    }),
    ...(environment.value === ALL ? [] : clockActions()),
    ...TIMELINE_ACTIONS,
    { text: 'New scenario', icon: 'scenarios', act: () => go('scenarios', NEW) },
    { keys: '/', text: 'Search' },
    { keys: 'j', text: 'Next one' },
    { keys: 'k', text: 'Previous one' },
    { keys: 'Enter', text: 'Open it' },
    { keys: 'Escape', text: 'Close it, or leave a field' },
    { keys: 'x', text: 'Mark a request; on another one, compare them' },
    { keys: 'f', text: 'Choose how the next one like it fails' },
    { keys: 'r', text: 'Send the request again' },
    { keys: 'c', text: 'Copy the request as curl' },
    { keys: '1 2 3', text: 'Request, response, facts' },
    { keys: 'Ctrl K', text: 'Go to, or do: views, accounts, requests, scenarios, actions' },
    { keys: '?', text: 'Keyboard shortcuts', icon: 'unknown', act: () => (dialog.value = 'help') },
  ]
}

function clockActions(): Action[] {
  const frozen = clockFrozen.value
  return [
    {
      text: frozen ? 'Run the clock' : 'Freeze the clock',
      icon: 'clock',
      act: () => changeClock({ frozen: !frozen }),
    },
    ...['1m', '1h', '1d'].map((advance): Action => {
      return { text: `Advance the clock by ${advance}`, icon: 'clock', act: () => changeClock({ advance }) }
    }),
  ]
}

function inTimeline(parameters: Readonly<Record<string, string>>): void {
  if (route.value.view === 'timeline') setParameters(parameters)
  else go('timeline', '', parameters)
}

function toggled(name: string, value: string): () => void {
  return () => inTimeline({ [name]: route.value.parameters[name] === value ? '' : value })
}
