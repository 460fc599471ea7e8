import type { Account } from '../domain/account.ts'
import { isSequenceCounter } from './collections.ts'
import { type Environment, ReadGuard } from './environment.ts'
import { ACCOUNT_SEQUENCE, ALL_TABLES, type Model, type Rows, TABLE_NAMES, type TableName } from './model/model.ts'
import type { Change, Row, Table } from './model/table.ts'
import { SeedConflictError } from './seeding.ts'
import { inSlices, sliced, type Steps } from './model/slices.ts'

/** Clients keep their credentials and bearer tokens when the model goes back to an earlier state. */
export const EMPTIED_BY_RESET: ReadonlySet<TableName> = new Set(
  TABLE_NAMES.filter((name) => name !== 'clients' && name !== 'bearer_tokens'),
)

interface Rebuilding<R> {
  /** The tables that begin empty. The others begin with their rows, and what other requests change in them is carried over. */
  readonly emptied: ReadonlySet<TableName>
  /** At most so many accounts are new. */
  readonly accounts?: number
  /** Fills an environment that no request sees yet. */
  readonly fill: (draft: Environment) => Steps<R>
  /** What else belongs to the commit, once the rows are in place. */
  readonly finish: (filled: R) => void
}

/**
 * Replaces rows of an environment in one commit, while requests go on against the rows as they were. Their changes of emptied tables
 * are lost with those rows. Only in its turn.
 * @throws SeedConflictError for two accounts of one name; StorageError when a commit was rolled back meanwhile
 */
export async function rebuild<R>(environment: Environment, rebuilding: Rebuilding<R>): Promise<void> {
  const { emptied, accounts = 0, fill, finish } = rebuilding
  const guard = new ReadGuard(environment)
  const { model } = environment
  const draft = environment.draft([...emptied])
  const { model: next } = draft.environment
  const isKept = (table: string): boolean => !emptied.has(table as TableName)
  const meanwhile = model.watch(accounts)
  const follow = (): void => {
    for (const change of meanwhile.splice(0)) if (isKept(change.table)) takeOver(model, next, change)
  }
  try {
    await inSlices(copy(model, next, isKept))
    const filled = await inSlices(fill(draft.environment), follow)
    follow()
    if (isKept('counters')) keepHighest(model, next)
    guard.assertValid()
    environment.replaceRows(draft, () => {
      finish(filled)
      if (emptied.size === 0) return
      endDeliveries(environment)
      environment.replacements++
    })
  } finally {
    model.unwatch()
  }
}

/** What waits to be sent is about rows that are replaced (G68). Only inside a transaction. */
function endDeliveries({ model: { tables } }: Environment): void {
  for (const id of tables.webhook_deliveries.ids()) tables.webhook_deliveries.remove(id)
}

/** Puts these rows in place of those of some tables, together with what `finish` changes, in one commit. */
export function replaceTables(
  environment: Environment,
  tables: { readonly [Name in TableName]: readonly Rows[Name][] },
  emptied: ReadonlySet<TableName>,
  finish: () => void,
): Promise<void> {
  const fill = function* ({ model }: Environment): Steps {
    for (const name of emptied) {
      const table = model.tables[name] as Table<Row>
      yield* sliced<Row>(tables[name], (row) => table.put(row))
    }
  }
  return environment.inTurn(() => rebuild(environment, { emptied, fill, finish }))
}

/** Copies the rows of the tables that are kept, those of the moment in which it begins. No new row gets the place of an old one. */
function* copy(from: Model, to: Model, isKept: (table: string) => boolean): Steps {
  const tables = ALL_TABLES.map((name) => {
    const [source, target]: readonly [Table<Row>, Table<Row>] = [from.tables[name], to.tables[name]]
    return { source, target, rows: isKept(name) ? [...source.placed()] : [] }
  })
  for (const { source, target, rows } of tables) {
    target.continueAfter(source)
    yield* sliced(rows, ([place, row]) => target.load(row, place))
  }
  to.definitions.copy(from.definitions)
}

/** Takes over a change that another request has made meanwhile. Where both have changed a row, that of the draft stays. */
function takeOver(from: Model, model: Model, { table, id, before, after }: Change): void {
  if (id === ACCOUNT_SEQUENCE) return
  const present = model.tables[table as TableName].get(id)
  if (present === before) {
    if (table === 'accounts' && after) refuseSecond(model, after as Account)
    // The log has it before the rows of the draft.
    model.restore(table, id, after, from.tables[table as TableName].placeOf(id))
  }
  // A counter gives the items of a collection their order. One of a sequence of answers begins again.
  else if (table === 'counters' && (present || !isSequenceCounter(id)))
    throw new SeedConflictError(`other requests changed the ${id} meanwhile; ${AGAIN}`)
}

const AGAIN = 'nothing was changed, send the seed again'

function refuseSecond({ accountIndex }: Model, account: Account): void {
  const { connector, identifier, id } = account
  const other = accountIndex.inScope(connector, identifier, account)
  if (!other || other.id === id) return
  const name = JSON.stringify(identifier)
  throw new SeedConflictError(`another request made the account ${name} at ${connector} meanwhile; ${AGAIN}`)
}

/** Other requests have counted accounts beyond those of the draft. */
function keepHighest(from: Model, { tables: { counters } }: Model): void {
  const counter = from.tables.counters.get(ACCOUNT_SEQUENCE)
  if (counter && counter.value > (counters.get(ACCOUNT_SEQUENCE)?.value ?? 0)) counters.put(counter)
}
