import type { JournalLine } from './journal-record.ts'
import { type Model, type Rows, TABLE_NAMES, type TableName } from './model.ts'
import { refused } from './state-check.ts'
import type { EnvironmentRecord, StateImage } from './state-image.ts'
import type { StoredEnvironment } from './stored-environment.ts'
import type { Table } from './table.ts'

type Make = (name: string, record: EnvironmentRecord) => StoredEnvironment

/** The environments of a state file. @throws StateError when rows contradict one another */
export function load(image: StateImage | undefined, file: string, make: Make): Map<string, StoredEnvironment> {
  const environments = new Map<string, StoredEnvironment>()
  for (const [name, { tables, ...record }] of Object.entries(image?.environments ?? {})) {
    const environment = make(name, record)
    environments.set(name, environment)
    for (const table of TABLE_NAMES) {
      const fault = loadTable(environment.model.tables[table], tables[table])
      if (fault) throw refused(file, `at environments.${name}.tables.${table}${fault}`)
    }
    const fault = sequenceFault(environment.model)
    if (fault) throw refused(file, `at environments.${name}.tables.counters ${fault}`)
  }
  return environments
}

/** Applies the commits of a journal. */
export function replay(
  commits: readonly JournalLine[],
  environments: Map<string, StoredEnvironment>,
  { make, leave }: { make: Make; leave: (environment: StoredEnvironment) => void },
): void {
  for (const { environment: name = '', record, ids, changes = [] } of commits) {
    let environment = environments.get(name)
    if (record === null) {
      if (environment) leave(environment)
      environments.delete(name)
      continue
    }
    if (environment) environment.replay(record, ids)
    else if (record) environments.set(name, (environment = make(name, record)))
    environment?.model.redo(
      changes.map((change) =>
        'put' in change
          ? { table: change.put, id: change.row.id, after: change.row }
          : { table: change.remove, id: change.id, after: undefined },
      ),
    )
  }
}

function loadTable<Name extends TableName>(table: Table<Rows[Name]>, rows: readonly Rows[Name][]): string | undefined {
  for (const [at, row] of rows.entries()) {
    if (table.get(row.id)) return `[${at}].id the id ${JSON.stringify(row.id)} is there twice`
    try {
      table.restore(row.id, row)
    } catch (error) {
      return `[${at}] ${error instanceof Error ? error.message : String(error)}`
    }
  }
  return undefined
}

/** A new account must not get the place of one that exists. */
function sequenceFault(model: Model): string | undefined {
  const given = model.tables.counters.get('account_sequence')?.value ?? 0
  const last = model.accountIndex.lastSequence
  return last <= given ? undefined : `account_sequence is ${given}, yet there is an account with the sequence ${last}`
}
