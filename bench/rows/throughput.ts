import type { BarName } from '../bars.ts'
import type { Figure, PeerFigure } from '../figure.ts'
import type { Sample } from '../rounds.ts'
import { medianOf, quotients, spreadOf } from '../statistics.ts'

const rates = (samples: readonly Sample[]): number[] => samples.map(({ rate }) => rate)
const costs = (samples: readonly Sample[]): number[] => samples.map(({ cpu }) => cpu)

interface Sides {
  what: string
  accounts?: number
  bar?: BarName
  ours: readonly Sample[]
  bare: readonly Sample[]
}

/**
 * For work that the processor limits: the quotient of the CPU that the servers use for an answer. On a core of its own it equals
 * the quotient of the rates. It stays correct when the generator or another process is the limit.
 */
export function costFigure(sides: Sides): Figure {
  return figure(sides, quotients(costs(sides.bare), costs(sides.ours)))
}

/** For work that waits for the disk: the quotient of answers a second. */
export function rateFigure(sides: Sides): Figure {
  return figure(sides, quotients(rates(sides.ours), rates(sides.bare)))
}

export const rateText = (samples: readonly Sample[]): string => `${Math.round(medianOf(rates(samples)))}/s`
const costText = (samples: readonly Sample[]): string => `${(medianOf(costs(samples)) * 1000).toFixed(0)} µs`

/** A cell of the table of peers. */
export function cell(work: string, subject: string, samples: readonly Sample[]): PeerFigure {
  return { work, subject, text: `${rateText(samples)}, ${costText(samples)}` }
}

function figure({ what, accounts, bar, ours, bare }: Sides, ratios: number[]): Figure {
  const byRate = medianOf(quotients(rates(ours), rates(bare)))
  const byCost = medianOf(quotients(costs(bare), costs(ours)))
  const limit = Math.max(...[...ours, ...bare].map(({ generatorLoad }) => generatorLoad))
  return {
    what,
    ...(accounts !== undefined && { accounts }),
    ...(bar && { bar }),
    value: spreadOf(ratios),
    unit: '× bare',
    detail: [
      `${rateText(ours)}, ${costText(ours)} of CPU`,
      `bare ${rateText(bare)}, ${costText(bare)}`,
      `by rate ${byRate.toFixed(2)}, by CPU ${byCost.toFixed(2)}`,
      ...(limit > 0.95 ? ['the generator was at its limit'] : []),
    ].join('; '),
  }
}
