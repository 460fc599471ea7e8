import type { LoadGenerator } from './load.ts'
import type { LoadPlan } from './load/plan.ts'
import { cpuSeconds } from './process-usage.ts'
import type { ServerProcess } from './server-process.ts'

/** A server and the requests that it gets. */
export interface Target {
  process: ServerProcess
  url: string
  requests: readonly string[]
  /** The statuses that are expected. */
  statuses: readonly number[]
  /** No bar depends on it, so it is measured in fewer rounds. */
  isPeer?: true
  /** Restores the state of the server after a round, outside of the measured time. */
  after?: () => Promise<void>
}

/** The result of one round on one target. */
export interface Sample {
  answers: number
  /** Answers a second. */
  rate: number
  /** Milliseconds of CPU that the server uses for an answer. */
  cpu: number
  /** The share of the time in which the load generator used a core. */
  generatorLoad: number
  slowest: number
}

export interface RoundOptions {
  rounds: number
  peerRounds: number
  milliseconds: number
  connections: number
  /** Requests a second; absent for full speed. The warm-up is always at full speed. */
  perSecond?: number
  /** Milliseconds of a slice of the warm-up, and the most slices. */
  warmUp: number
  warmUpSlices: number
}

/** The first number in requests of the warm-up, which no round reaches. */
const WARM_UP_NUMBERS = 50_000_000
/** The warm-up ends after so many answers. After fewer, a GET took up to twice the CPU of later ones. */
const WARM_UP_ANSWERS = 40_000

/** Measures all targets in turn, round by round, after a warm-up. Every second round takes them in reverse order. */
export async function measureRounds<Name extends string>(
  generator: LoadGenerator,
  targets: Readonly<Record<Name, Target>>,
  options: RoundOptions,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(targets) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>
  const sampler = new LoadSampler(generator, options)
  const { perSecond: _, ...fullSpeed } = options
  const warmer = new LoadSampler(generator, { ...fullSpeed, milliseconds: options.warmUp }, WARM_UP_NUMBERS)
  for (const name of names) await warmUp(warmer, targets[name], targets[name].isPeer ? 1 : options.warmUpSlices)
  for (let round = 0; round < options.rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      if (targets[name].isPeer && round >= options.peerRounds) continue
      samples[name].push(await sampler.sample(targets[name]))
    }
  }
  return samples
}

/** The compiler counts calls, and a busy machine needs more time for the same number. So slices go on until enough answers. */
async function warmUp(warmer: LoadSampler, target: Target, slices: number): Promise<void> {
  let answers = 0
  for (let slice = 0; slice < slices && answers < WARM_UP_ANSWERS; slice++) {
    answers += (await warmer.sample(target)).answers
  }
}

/** Loads targets with requests whose numbers are never repeated. */
class LoadSampler {
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
