import { useEffect, useState } from 'preact/hooks'
import { go, VIEW_NAMES, VIEWS } from './hash-route.ts'

export type Keys = Readonly<Record<string, () => unknown>>

/** The keys of the mounted components, the latest first: the first one with an action for a key takes it. */
const stack: Keys[] = []

/** Adds keys. @returns a function that removes them */
export function listen(keys: Keys): () => void {
  stack.unshift(keys)
  return () => void stack.splice(stack.indexOf(keys), 1)
}

/** Ctrl or Cmd with K, in a field too. */
export const PALETTE_KEY = 'Ctrl k'

/** Listens to the keyboard. In a field, only Escape has an action: it leaves the field. */
export function startKeyboard(): void {
  let going = false
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || document.querySelector('dialog[open]')) return
    const element = event.target instanceof HTMLElement ? event.target : undefined
    const key = event.ctrlKey || event.metaKey ? `Ctrl ${event.key}` : event.key
    // While a key is held down it goes on through a list, and does nothing else again.
    if (event.repeat && !/^(j|k|Arrow.*)$/.test(key)) return
    // A field of a dialog that has just been closed has the focus until the next frame.
    if (key !== PALETTE_KEY && element?.matches(':is(input, textarea, select):not(dialog *)')) {
      if (key === 'Escape') element.blur()
      return
    }
    const view = going ? VIEW_NAMES.find((name) => VIEWS[name].key === key) : undefined
    going = key === 'g' && !going
    // The browser handles Enter and space on a link or button that has the focus.
    if ((key === 'Enter' || key === ' ') && element?.matches('a, button, summary')) return
    const action = view ? () => go(view) : stack.find((keys) => Object.hasOwn(keys, key))?.[key]
    if (!action) return
    action()
    event.preventDefault()
  })
}

/** When what has the focus is removed, the focus goes back to where it was before, else to the list or the view. */
export function startFocusReturn(): void {
  let focused: HTMLElement[] = []
  addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement) focused = [...focused.filter((each) => each !== target), target].slice(-10)
  })
  new MutationObserver(() => {
    if (document.activeElement !== document.body || focused.at(-1)?.isConnected !== false) return
    focused = focused.filter((each) => each.isConnected)
    const back = focused.at(-1) ?? document.querySelector<HTMLElement>('.list') ?? document.querySelector('main')
    back?.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}

/** `j` and `k` move the focus through a list of links with `data-row`; Escape calls `close`. */
export function useListNavigation(count: number, close: () => void): void {
  const [at, setAt] = useState(-1)
  useEffect(() => {
    const focusRow = (to: number): void => {
      const next = Math.max(0, Math.min(count - 1, to))
      setAt(next)
      document.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus()
    }
    return listen({ j: () => focusRow(at + 1), k: () => focusRow(at - 1), Escape: close })
  }, [count, at])
}
