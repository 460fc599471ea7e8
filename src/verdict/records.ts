import type { ScenarioHistory } from '../scenarios/scenario-run.ts'
import { ContractFields } from './contract-fields.ts'
import { EnvironmentRecord } from './environment-record.ts'

/** How many environments that are gone keep a record of their own; what the older ones did is kept in the total. */
const MOST_GONE = 200

/** What clients did to each environment, by its name; those that are gone are kept for the reports. */
export class ContractRecords {
  readonly declared = new ContractFields()
  readonly #byName = new Map<string, EnvironmentRecord>()
  readonly #gone = new Set<string>()
  #older = new EnvironmentRecord(this.declared)

  /** The record of an environment; one that comes back under the name of another goes on with its record. */
  of(name: string): EnvironmentRecord {
    if (this.#gone.size > 0) this.#gone.delete(name)
    const known = this.#byName.get(name)
    if (known) return known
    const made = new EnvironmentRecord(this.declared)
    this.#byName.set(name, made)
    return made
  }

  /** The environment is gone, and these are the scenarios that it had. */
  removed(name: string, scenarios: readonly ScenarioHistory[]): void {
    const gone = this.of(name)
    for (const history of scenarios) gone.scenarios.add(history)
    this.#gone.add(name)
    const [oldest] = this.#gone
    if (this.#gone.size <= MOST_GONE || oldest === undefined) return
    this.#gone.delete(oldest)
    const record = this.#byName.get(oldest)
    if (record) this.#older.add(record)
    this.#byName.delete(oldest)
  }

  /** The record of an environment that may be gone, to be read. */
  known(name: string): EnvironmentRecord {
    return this.#byName.get(name) ?? new EnvironmentRecord(this.declared)
  }

  names(): Iterable<string> {
    return this.#byName.keys()
  }

  /** What is too long ago to be told by itself. */
  get older(): EnvironmentRecord {
    return this.#older
  }

  /** Begins anew: of one environment, or of all. */
  clear(name?: string): void {
    if (name !== undefined) {
      this.#byName.delete(name)
      this.#gone.delete(name)
      return
    }
    this.#byName.clear()
    this.#gone.clear()
    this.#older = new EnvironmentRecord(this.declared)
  }
}
