import type { BarName } from './bars.ts'
import type { Spread } from './statistics.ts'

/** One line of the table of results. */
export interface Figure {
  /** The bar of the figure; absent for a figure without one. */
  bar?: BarName
  what: string
  accounts?: number
  value: Spread
  unit: string
  /** The absolute medians of a ratio and other details. */
  detail: string
}

/** One cell of the table of peers. */
export interface PeerFigure {
  work: string
  subject: string
  text: string
}

/** The results of a row of the benchmark. */
export interface Results {
  figures: Figure[]
  peers: PeerFigure[]
}
