import type { LoadGenerator } from './load.ts'
import type { InstalledPackage } from './package-install.ts'
import type { Peers } from './peers/peers.ts'
import type { StateFiles } from './state-files.ts'

/** How much is measured. Times are in milliseconds. */
export interface Scale {
  /** Rounds of load on each side, and the length of a round. */
  rounds: number
  milliseconds: number
  /** The length of a slice of the warm-up of each side, before the first round. */
  warmUp: number
  /** The most slices of the warm-up. It ends earlier when enough answers have compiled the hot code. */
  warmUpSlices: number
  /** Rounds and starts of each peer. No bar depends on them. */
  peerRounds: number
  /** Starts of each process. */
  starts: number
  /** The pause between the start of a server and the reading of its memory. */
  rest: number
  /** Whether work without a bar is measured as well. */
  unjudged: boolean
}

/** The numbers of accounts that the servers are measured with. A bar compares them. */
export const SIZES = [100, 10_000] as const

export const FULL: Scale = {
  // The machine changes its speed from one second to the next: many short rounds compare times that are close together.
  rounds: 27,
  milliseconds: 700,
  warmUp: 4000,
  warmUpSlices: 5,
  peerRounds: 9,
  starts: 21,
  rest: 1500,
  unjudged: true,
}

export const QUICK: Scale = {
  rounds: 3,
  milliseconds: 300,
  warmUp: 500,
  warmUpSlices: 7,
  peerRounds: 1,
  starts: 3,
  rest: 500,
  unjudged: false,
}

/** What every row of the benchmark uses. */
export interface Bench {
  scale: Scale
  product: InstalledPackage
  /** The command line of the installed product. */
  cli: string
  states: StateFiles
  /** A folder for temporary files of this run. */
  work: string
  generator: LoadGenerator
  /** Undefined with `--no-peers`. */
  peers: Peers | undefined
}
