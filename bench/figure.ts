import type { BarName } from './bars.ts'
import type { Spread } from './statistics.ts'

/** One line of the table of results. */
export interface Figure {
  /** What is judged by it; absent for a figure that only informs. */
  bar?: BarName
  what: string
  accounts?: number
  value: Spread
  unit: string
  /** The absolute medians behind a ratio, and whatever else helps to read it. */
  detail: string
}

/** One cell of the table of peers. */
export interface PeerFigure {
  work: string
  subject: string
  text: string
}

/** What a row of the bench gives. */
export interface Results {
  figures: Figure[]
  peers: PeerFigure[]
}
