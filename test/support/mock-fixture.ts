import { join } from 'node:path'
import { it as base, type TestAPI, type TestContext } from 'vitest'
import { withDirectory } from './registry.ts'

type Bracket<Mock> = (work: (mock: Mock) => Promise<void>) => Promise<void>

/** As `it.for` of vitest, but it infers the type of each cell of a row. */
interface RowTests<Fixtures> {
  for: <Row extends readonly unknown[] | [unknown]>(
    rows: readonly Row[],
  ) => (
    title: string,
    test: (row: Row, context: TestContext & Fixtures) => void | Promise<void>,
    timeout?: number,
  ) => void
}

const withRows = <Fixtures>(tests: TestAPI<Fixtures>) => tests as RowTests<Fixtures> & TestAPI<Fixtures>

/** The fixture that a function gives to its `work`: `it.extend('mock', during(withUsers))`. */
export function during<Mock>(bracket: Bracket<Mock>) {
  return ({}, { onCleanup }: { onCleanup: (stop: () => Promise<void>) => void }) => start(bracket, onCleanup)
}

/** An `it` whose tests have a directory of their own, and the path of a state file in it. */
export const it = withRows(
  base
    .extend('directory', during(withDirectory<void>))
    .extend('file', ({ directory }) => join(directory, 'state.json')),
)

/**
 * An `it` that gives mocks to its tests, and stops them afterwards; a stop that fails fails the test.
 *
 *     it('lists the accounts', async ({ mock }) => { … })
 *
 * `mock` has the default options, `startMock` starts one with others.
 */
export function itWith<Options, Mock>(
  withMock: (options: Options, work: (mock: Mock) => Promise<void>) => Promise<void>,
  defaults: NoInfer<Options>,
) {
  return withRows(
    it
      .extend('startMock', ({}, { onCleanup }) => {
        const stops: (() => Promise<void>)[] = []
        onCleanup(async () => {
          for (const stop of stops.toReversed()) await stop()
        })
        return (options: Options) =>
          start<Mock>(
            (work) => withMock(options, work),
            (stop) => stops.push(stop),
          )
      })
      .extend('mock', ({ startMock }) => startMock(defaults)),
  )
}

function start<Mock>(bracket: Bracket<Mock>, onStarted: (stop: () => Promise<void>) => void): Promise<Mock> {
  return new Promise((resolve, reject) => {
    const running = bracket((mock) => {
      resolve(mock)
      return new Promise((stop) => {
        onStarted(() => (stop(), running))
      })
    })
    running.catch(reject)
  })
}
