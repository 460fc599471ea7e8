import { go, type View } from './hash-route.ts'

/** What a view does with keys; keys that it leaves out do nothing there. */
export type Keys = Readonly<Record<string, () => void>>

/** The keys of the view that is shown; the latest one that was mounted comes first. */
const stack: Keys[] = []

/** @returns what takes the keys away again */
export function listen(keys: Keys): () => void {
  stack.unshift(keys)
  return () => void stack.splice(stack.indexOf(keys), 1)
}

/** `g` and one of these go to a view. */
export const VIEW_KEYS: Readonly<Record<string, View>> = {
  t: 'timeline',
  a: 'accounts',
  l: 'links',
  c: 'clock',
  s: 'scenarios',
  v: 'contract',
  d: 'data',
}

/** Keys belong to the field that is written in; Escape leaves it. */
export function startKeyboard(): void {
  let going = false
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    const { target, key } = event
    const writing = target instanceof HTMLElement && target.matches('input, textarea, select')
    if (writing) {
      if (key === 'Escape') target.blur()
      return
    }
    const view = going ? VIEW_KEYS[key] : undefined
    going = key === 'g' && !going
    if (view) go(view)
    else {
      // Enter and space press the button or follow the link that has the focus.
      const presses =
        (key === 'Enter' || key === ' ') && target instanceof HTMLElement && target.matches('a, button, summary')
      const action = presses ? undefined : stack.find((keys) => Object.hasOwn(keys, key))?.[key]
      if (!action) return
      action()
    }
    event.preventDefault()
  })
}
