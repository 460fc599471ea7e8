import { it, type TestContext } from 'vitest'

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
  const mockIt = it
    .extend('startMock', ({}, { onCleanup }) => {
      const stops: (() => Promise<void>)[] = []
      onCleanup(async () => {
        for (const stop of stops.toReversed()) await stop()
      })
      return (options: Options) =>
        new Promise<Mock>((resolve, reject) => {
          const running = withMock(options, (mock) => {
            resolve(mock)
            return new Promise((stop) => stops.push(() => (stop(), running)))
          })
          running.catch(reject)
        })
    })
    .extend('mock', ({ startMock }) => startMock(defaults))
  return mockIt as RowTests<{ startMock: (options: Options) => Promise<Mock>; mock: Mock }> & typeof mockIt
}
