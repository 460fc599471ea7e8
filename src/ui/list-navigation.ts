import { useEffect, useState } from 'preact/hooks'
import { listen } from './keyboard.ts'

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
