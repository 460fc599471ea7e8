import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startToolmock } from './toolmock.ts'

/** State files with many accounts. The product makes them from a seed with `generate`; a cache keeps them for later runs. */
export class StateFiles {
  readonly #cli: string
  readonly #cache: string
  readonly #work: string
  #copies = 0

  /** `cache` has to be another folder for each version of the product. */
  constructor(options: { cli: string; cache: string; work: string }) {
    this.#cli = options.cli
    this.#cache = options.cache
    this.#work = options.work
  }

  /** A copy of the state file with so many accounts, which the caller may change. */
  async copy(accounts: number): Promise<string> {
    const kept = join(this.#cache, `state-${accounts}.json`)
    if (!existsSync(kept)) await this.#make(accounts, kept)
    const folder = join(this.#work, `state-${this.#copies++}`)
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'state.json')
    copyFileSync(kept, path)
    return path
  }

  remove(path: string): void {
    rmSync(join(path, '..'), { recursive: true, force: true })
  }

  async #make(accounts: number, kept: string): Promise<void> {
    mkdirSync(this.#cache, { recursive: true })
    const seed = join(this.#cache, `seed-${accounts}.yaml`)
    const making = join(this.#cache, 'making.json')
    writeFileSync(seed, seedText(accounts))
    // A frozen clock, so that no token is expired when the file is used on another day.
    const flags = [
      '--fresh',
      '--seed',
      'bundled',
      '--seed',
      seed,
      '--id-seed',
      '1',
      '--clock',
      '2026-01-01T00:00:00Z',
      '--freeze',
    ]
    const { process } = await startToolmock({ cli: this.#cli, state: making, flags })
    await process.kill('SIGTERM')
    renameSync(making, kept)
  }
}

/** A seed: half of the accounts belong to one user, a quarter to an organization, and a quarter have no owner. */
function seedText(accounts: number): string {
  const quarter = Math.floor(accounts / 4)
  const generate = [
    { accounts: accounts - 2 * quarter, connector: 'mail', user_id: 'user_1' },
    { accounts: quarter, connector: 'weather' },
    { accounts: quarter, connector: 'ledger', organization_id: 'org_1' },
  ]
  return JSON.stringify({ generate })
}
