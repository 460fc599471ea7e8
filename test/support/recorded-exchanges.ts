import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { ObservedExchange } from '../../src/contract/observed-exchange.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the workers note which statuses their tests have produced; made afresh for each run. */
    recordedExchanges: string
    /** Whether every test runs, and not a selection. */
    wholeRun: boolean
  }
}

/** Notes, one line for each, which statuses of which operations a test has produced. */
export function recordExchanges(exchanges: readonly ObservedExchange[]): void {
  const own = exchanges.filter(({ injected }) => !injected)
  const lines = new Set(own.map(({ operation, response }) => `${String(operation)} ${response.status}\n`))
  // A file for each worker process: nobody else writes to it.
  appendFileSync(join(inject('recordedExchanges'), `${process.pid}.txt`), [...lines].join(''))
}

/** Every `operation status` that the tests of this run have produced so far. */
export function recordedExchanges(): ReadonlySet<string> {
  const folder = inject('recordedExchanges')
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  return new Set(texts.flatMap((text) => text.split('\n')))
}
