import { setImmediate as nextTurn } from 'node:timers/promises'

/*
 * Work on many rows is a generator that yields after every few milliseconds. It runs at once inside a transaction, or in slices
 * on what no request sees yet.
 */

/** Work that can give way. */
export type Steps<R = void> = Generator<undefined, R>

/** Runs work with a turn of the event loop between two steps, so that other requests are answered meanwhile. */
export async function inSlices<R>(steps: Steps<R>, between: () => void = () => undefined): Promise<R> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await nextTurn()
    between()
  }
}

/** Runs work without a pause. */
export function atOnce<R>(steps: Steps<R>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Rows that are made, put, checked or written in a few milliseconds. */
export const ROWS_AT_ONCE = 100

/** Does something with each item, and gives way after some of them. */
export function* sliced<T>(items: Iterable<T>, act: (item: T) => void): Steps {
  let count = 0
  for (const item of items) {
    act(item)
    if (++count % ROWS_AT_ONCE === 0) yield
  }
}
