import type { LoadGenerator } from './load.ts'
import type { InstalledPackage } from './package-install.ts'
import type { Peers } from './peers/peers.ts'
import type { StateFiles } from './state-files.ts'

/** How much is measured. */
export interface Scale {
  /** Rounds of load on each side, and how long one takes. */
  rounds: number
  milliseconds: number
  /** How long each side is asked before the first round. */
  warmUp: number
  /** How often that is repeated at most, until what is hot has been compiled. */
  warmUpSlices: number
  /** Rounds and starts of each peer: a figure beside ours that no bar depends on. */
  peerRounds: number
  /** Starts of each process. */
  starts: number
  /** How long a started server is left alone before its memory is read. */
  rest: number
  /** Whether work is measured, too, for which there is no bar. */
  unjudged: boolean
  /** Numbers of accounts, beside those that a bar names. */
  sizes: readonly number[]
  /** How long the loop's pauses are looked for, beside a checkpoint of the state file. */
  pauseMilliseconds: number
  /** How long creates go on until the state file has been written anew under load; 0: not at all. */
  checkpointWithin: number
}

export const FULL: Scale = {
  rounds: 9,
  milliseconds: 2000,
  warmUp: 4000,
  warmUpSlices: 5,
  peerRounds: 9,
  starts: 21,
  rest: 1500,
  unjudged: true,
  sizes: [100, 10_000, 100_000],
  pauseMilliseconds: 20_000,
  checkpointWithin: 120_000,
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
  sizes: [100, 100_000],
  pauseMilliseconds: 3000,
  checkpointWithin: 0,
}

/** What every row of the bench works with. */
export interface Bench {
  scale: Scale
  product: InstalledPackage
  /** The command line of the installed product. */
  cli: string
  states: StateFiles
  /** A folder for files that the bench makes. */
  work: string
  generator: LoadGenerator
  /** Absent when they are not asked for or could not be installed. */
  peers: Peers | undefined
}
