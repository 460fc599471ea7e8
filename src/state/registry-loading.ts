import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FileSystem } from './wal/file-system.ts'
import type { WalLine } from './wal/wal-file.ts'
import { type Model, SECTION_NAMES, TABLE_NAMES } from './model/model.ts'
import { refusedAt } from './state-file/read-state.ts'
import type { EnvironmentRecord, StateImage } from './model/state-image.ts'
import type { StoredEnvironment } from './stored-environment.ts'
import type { Row, Table } from './model/table.ts'

type Make = (name: string, record: EnvironmentRecord) => StoredEnvironment

/** Rows of a state file that contradict one another. */
class Contradiction extends Error {
  override readonly name = 'Contradiction'

  constructor(
    /** Inside the JSON of the state file. */
    readonly path: readonly (string | number)[],
    what: string,
  ) {
    super(what)
  }
}

/** The environments of a state file. @throws Contradiction */
export function load(state: StateImage | undefined, make: Make): Map<string, StoredEnvironment> {
  const environments = new Map<string, StoredEnvironment>()
  for (const [name, image] of Object.entries(state?.environments ?? {})) {
    const { settings, clock, ids, tables } = image
    const environment = make(name, { settings, clock, ids })
    environments.set(name, environment)
    const inside = ['environments', name, 'tables']
    const { model } = environment
    for (const table of TABLE_NAMES) loadTable<Row>(model.tables[table], tables[table], [...inside, table])
    for (const section of SECTION_NAMES)
      loadTable<Row>(model.tables[section], image[section], [...inside.slice(0, 2), section])
    const fault = sequenceFault(environment.model)
    if (fault) throw new Contradiction([...inside, 'counters'], fault)
  }
  return environments
}

/** Finishes the indexes of what was loaded, in turns of the event loop, so that no request waits long for it. */
export async function finishIndexes(environments: Iterable<StoredEnvironment>): Promise<void> {
  for (const { model } of environments) while (model.enterSome()) await nextTurn()
}

/** Applies the commits of the write-ahead log. */
export function replay(
  commits: readonly WalLine[],
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
    for (const change of environment ? changes : []) environment?.redo(change)
  }
}

function loadTable<T extends Row>(table: Table<T>, rows: readonly T[], inside: readonly (string | number)[]): void {
  for (const [at, row] of rows.entries()) {
    let isNew = false
    try {
      isNew = table.load(row)
    } catch (error) {
      throw new Contradiction([...inside, at], error instanceof Error ? error.message : String(error))
    }
    if (!isNew) throw new Contradiction([...inside, at, 'id'], `the id ${JSON.stringify(row.id)} is there twice`)
  }
}

/** A new account must not get the place of one that exists. */
function sequenceFault(model: Model): string | undefined {
  const given = model.tables.counters.get('account_sequence')?.value ?? 0
  const last = model.accountIndex.lastSequence
  return last <= given ? undefined : `account_sequence is ${given}, yet there is an account with the sequence ${last}`
}

/** A contradiction with its place in the state file; other errors as they are. */
export async function placed(error: unknown, file: string, fileSystem: FileSystem): Promise<unknown> {
  if (!(error instanceof Contradiction)) return error
  const bytes = (await fileSystem.read(file)) ?? Buffer.alloc(0)
  const { pathText } = await import('./state-file/validation.ts')
  return refusedAt(bytes, file, error.path, `${pathText(error.path)}: ${error.message}`)
}
