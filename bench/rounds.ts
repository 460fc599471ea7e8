import type { LoadGenerator } from './load.ts'
import type { LoadPlan } from './load/plan.ts'
import { cpuSeconds } from './process-usage.ts'
import type { ServerProcess } from './server-process.ts'

/** A server and what it is asked. */
export interface Target {
  process: ServerProcess
  url: string
  requests: readonly string[]
  /** What may be answered. */
  statuses: readonly number[]
  /** Nothing is judged by it: it is asked in fewer rounds. */
  isPeer?: true
  /** Puts the server back to what it was, outside of what is measured. */
  after?: () => Promise<void>
}

/** What one round on one target gave. */
export interface Sample {
  answers: number
  /** Answers a second. */
  rate: number
  /** CPU of the server, in milliseconds an answer. */
  cpu: number
  /** The share of the time in which the generator was busy. */
  generatorLoad: number
  slowest: number
}

export interface RoundOptions {
  rounds: number
  peerRounds: number
  milliseconds: number
  connections: number
  /** Requests a second; as many as are answered without it. The warm-up is at full speed. */
  perSecond?: number
  /** How long each target is asked before the first round, at least: until its code is compiled. */
  warmUp: number
  warmUpSlices: number
}

/** Numbers that no round comes to. */
const WARM_UP_NUMBERS = 50_000_000
/** Enough for all that is hot to be compiled for good: after fewer, a GET took up to twice the CPU of later ones. */
const WARM_UP_ANSWERS = 40_000

/** All targets in turn, round by round, after a warm-up that does not count; every other round runs backwards. */
export async function measureRounds<Name extends string>(
  generator: LoadGenerator,
  targets: Readonly<Record<Name, Target>>,
  options: RoundOptions,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(targets) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>
  const asker = new Asker(generator, options)
  const { perSecond: _, ...fullSpeed } = options
  const warmer = new Asker(generator, { ...fullSpeed, milliseconds: options.warmUp }, WARM_UP_NUMBERS)
  for (const name of names) await warmUp(warmer, targets[name], targets[name].isPeer ? 1 : options.warmUpSlices)
  for (let round = 0; round < options.rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      if (targets[name].isPeer && round >= options.peerRounds) continue
      samples[name].push(await asker.sample(targets[name]))
    }
  }
  return samples
}

/** The compiler goes by the number of calls, which a crowded machine gets done in more time. */
async function warmUp(warmer: Asker, target: Target, slices: number): Promise<void> {
  let answers = 0
  for (let slice = 0; slice < slices && answers < WARM_UP_ANSWERS; slice++) {
    answers += (await warmer.sample(target)).answers
  }
}

/** Asks targets with numbers in their requests that never come twice. */
export class Asker {
  readonly #generator: LoadGenerator
  readonly #options: Pick<LoadPlan, 'connections' | 'milliseconds' | 'perSecond'>
  #nextNumber: number

  constructor(
    generator: LoadGenerator,
    { connections, milliseconds, perSecond }: Pick<LoadPlan, 'connections' | 'milliseconds' | 'perSecond'>,
    firstNumber = 0,
  ) {
    this.#nextNumber = firstNumber
    this.#generator = generator
    this.#options = { connections, milliseconds, ...(perSecond !== undefined && { perSecond }) }
  }

  async sample({ process, url, requests, statuses, after }: Target): Promise<Sample> {
    const before = cpuSeconds(process.pid)
    const result = await this.#generator.run({
      ...this.#options,
      port: Number(new URL(url).port),
      requests,
      statuses,
      firstNumber: this.#nextNumber,
    })
    const cpu = cpuSeconds(process.pid) - before
    this.#nextNumber = result.nextNumber
    await after?.()
    return {
      answers: result.answers,
      rate: result.answers / result.seconds,
      cpu: (cpu * 1000) / result.answers,
      generatorLoad: result.generatorSeconds / result.seconds,
      slowest: result.slowestMilliseconds,
    }
  }
}
