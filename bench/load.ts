import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadPlan, LoadResult } from './load/plan.ts'
import { pinned } from './pinning.ts'

type Reply = { result: LoadResult } | { error: string }

/** The process that generates load: one for the whole benchmark, on another core than the servers. */
export class LoadGenerator {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(): Promise<LoadGenerator> {
    const script = fileURLToPath(new URL('load-generator.ts', import.meta.url))
    const child = fork(script, [], { execArgv: ['--import', 'tsx'] })
    await once(child, 'spawn')
    if (child.pid !== undefined) pinned.generator(child.pid)
    return new LoadGenerator(child)
  }

  async run(plan: LoadPlan): Promise<LoadResult> {
    const answered = once(this.#child, 'message') as Promise<[Reply]>
    this.#child.send(plan)
    const [reply] = await answered
    if ('error' in reply) throw new Error(`the load on port ${plan.port} failed: ${reply.error}`)
    return reply.result
  }

  stop(): void {
    this.#child.kill()
  }
}
