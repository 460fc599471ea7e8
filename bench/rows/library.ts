import { programPath, startBare } from '../bare.ts'
import type { BarName } from '../bars.ts'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { ServerProcess } from '../server-process.ts'
import { medianOf, quotients, spreadOf } from '../statistics.ts'

/** Milliseconds, as `programs/library.js` prints them. */
interface Measured {
  loaded: number
  first: number
  further: number
  reset: number
  environment: number
}

const FIGURES: readonly (readonly [what: string, part: keyof Measured, bar: BarName])[] = [
  ['and first `createToolmock()`', 'first', 'library-first'],
  ['each further `createToolmock()`', 'further', 'library-further'],
  ['`reset()`', 'reset', 'library-reset'],
  ['a new environment', 'environment', 'library-environment'],
]

/** What the library takes of the time of a test process, by `import` and by `require`, as shares of starting a bare server. */
export async function libraryRow({ product, scale }: Bench): Promise<Results> {
  const bare: number[] = []
  const measured = { import: [] as Measured[], require: [] as Measured[] }
  // The first round fills the caches of the system and does not count.
  for (let round = 0; round <= scale.starts; round++) {
    await using server = await startBare()
    const one = { import: await measure('import', product.folder), require: await measure('require', product.folder) }
    if (round === 0) continue
    bare.push(server.readyAfter)
    measured.import.push(one.import)
    measured.require.push(one.require)
  }
  const figures = (['import', 'require'] as const).flatMap((how) =>
    FIGURES.map(([what, part, bar]): Figure => {
      const values = measured[how].map((each) => each[part])
      const loaded =
        part === 'first'
          ? `, ${medianOf(measured[how].map((each) => each.loaded)).toFixed(0)} of it for \`${how}\``
          : ''
      return {
        what: part === 'first' ? `in a test process: \`${how}\` ${what}` : `${what}, by \`${how}\``,
        bar,
        value: spreadOf(quotients(values, bare)),
        unit: '× bare',
        detail: `${medianOf(values).toFixed(1)} ms${loaded}; bare ${medianOf(bare).toFixed(0)} ms`,
      }
    }),
  )
  return { figures, peers: [] }
}

async function measure(how: 'import' | 'require', folder: string): Promise<Measured> {
  const child = new ServerProcess({ args: [programPath('library'), how, folder] })
  const line = await child.firstLine()
  await child.kill()
  return JSON.parse(line) as Measured
}
