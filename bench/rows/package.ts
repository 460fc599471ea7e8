import { BARS, type BarName } from '../bars.ts'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { spreadOf } from '../statistics.ts'

/** The number and the size of the packages that `npm install` adds. */
export function packageRow({ product, peers }: Bench): Results {
  const figure = (bar: BarName, value: number, unit: string): Figure => ({
    bar,
    what: BARS[bar].title,
    value: spreadOf([value]),
    unit,
    detail: '',
  })
  const text = (packages: number, megabytes: number): string =>
    `${packages} ${packages === 1 ? 'package' : 'packages'}, ${megabytes.toFixed(1)} MB`
  const subjects = [['toolmock', product] as const, ...(peers?.installed ?? [])]
  return {
    figures: [figure('packages', product.packages, 'packages'), figure('size', product.megabytes, 'MB')],
    peers: subjects.map(([subject, { packages, megabytes }]) => ({
      work: 'installed',
      subject,
      text: text(packages, megabytes),
    })),
  }
}
