import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { ObservedExchange } from '../../src/journal/verdict/prism-check.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder in which the workers record the statuses that their tests produced; new for each run. */
    recordedExchanges: string
    /** Whether every test runs, and not a selection. */
    wholeRun: boolean
  }
}

/** Records which statuses of which operations a test has produced, one on each line. */
export function recordExchanges(exchanges: readonly ObservedExchange[]): void {
  const own = exchanges.filter(({ injected }) => !injected)
  const lines = new Set(own.map(({ operation, response }) => `${operation} ${response.status}\n`))
  // Each worker process writes to a file of its own.
  appendFileSync(join(inject('recordedExchanges'), `${process.pid}.txt`), [...lines].join(''))
}

/** Every `operation status` that the tests of this run have produced so far. */
export function recordedExchanges(): ReadonlySet<string> {
  const folder = inject('recordedExchanges')
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  return new Set(texts.flatMap((text) => text.split('\n')))
}
