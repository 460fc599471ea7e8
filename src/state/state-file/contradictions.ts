import { accountName } from '../../model/domain/account.ts'
import { counterOf } from '../../model/domain/collection.ts'
import type { Path, Problem } from '../../model/schema/problems.ts'
import { ACCOUNT_SEQUENCE, type Rows, SECTION_NAMES, TABLE_NAMES, type TableName } from '../model/model.ts'
import type { StateContent } from '../model/state-image.ts'
import type { Row } from '../model/table.ts'

/* Rows that are valid each by itself, and contradict one another. A start and `PUT /_mock/state` refuse them. */

type TableRows = { readonly [Name in TableName]: readonly Rows[Name][] }

export function contradictions({ environments }: StateContent): Problem[] {
  const problems: Problem[] = []
  const owners = new Map<string, string>()
  for (const [name, image] of Object.entries(environments)) {
    const path = ['environments', name]
    problems.push(...contradictionsOf(image.tables, [...path, 'tables']))
    for (const section of SECTION_NAMES) findRepeatedIds(image[section], [...path, section], problems)
    // The client id chooses the environment, so that no two environments can have the same.
    for (const [at, client] of image.tables.clients.entries()) {
      const owner = owners.get(client.id) ?? name
      if (owner !== name) problems.push(ofOther([...path, 'tables', 'clients', at, 'id'], owner))
      owners.set(client.id, owner)
    }
  }
  return problems
}

export function contradictionsOf(tables: TableRows, path: Path): Problem[] {
  const problems: Problem[] = []
  for (const name of TABLE_NAMES) findRepeatedIds(tables[name], [...path, name], problems)
  const names = new Set<string>()
  for (const [at, account] of tables.accounts.entries()) {
    const { size } = names
    if (names.add(accountName(account)).size > size) continue
    const allowed = 'each identifier once at a connector in a scope'
    problems.push({ path: [...path, 'accounts', at, 'identifier'], found: REPEATED, allowed })
  }
  const configs = new Set(tables.mcp_configs.map(({ id }) => id))
  for (const [at, { config_id }] of tables.mcp_instances.entries()) {
    if (configs.has(config_id)) continue
    problems.push({
      path: [...path, 'mcp_instances', at, 'config_id'],
      found: config_id,
      allowed: 'the id of a config',
    })
  }
  return [
    ...problems,
    ...orderProblems(tables, 'accounts', () => ACCOUNT_SEQUENCE, path),
    ...orderProblems(tables, 'collection_items', counterOf, path),
  ]
}

/** Rows in the order of their creation: no two have one place, and a new row does not get that of one that exists. */
function orderProblems<Name extends 'accounts' | 'collection_items'>(
  tables: TableRows,
  name: Name,
  counterFor: (row: Rows[Name]) => string,
  path: Path,
): Problem[] {
  const problems: Problem[] = []
  const counters = new Map(tables.counters.map(({ id, value }) => [id, value]))
  const places = new Set<string>()
  const lasts = new Map<string, number>()
  for (const [at, row] of tables[name].entries()) {
    const counter = counterFor(row)
    const { size } = places
    if (places.add(`${row.sequence} ${counter}`).size === size)
      problems.push({ path: [...path, name, at, 'sequence'], found: REPEATED, allowed: 'each sequence once' })
    lasts.set(counter, Math.max(lasts.get(counter) ?? 0, row.sequence))
  }
  for (const [counter, last] of lasts) {
    const counted = counters.get(counter) ?? 0
    if (last <= counted) continue
    const allowed = `${counter} of at least ${last}, the sequence of the last row of ${name}`
    problems.push({ path: [...path, 'counters'], found: `${counter} ${counted}`, allowed })
  }
  return problems
}

const REPEATED = 'the same for the second time'

/** A row whose id chooses an environment, and already chooses another one. */
export function ofOther(path: Path, owner: string): Problem {
  return { path, found: `what the environment ${owner} has`, allowed: 'an id that no other environment has' }
}

function findRepeatedIds(rows: readonly Row[], path: Path, problems: Problem[]): void {
  const ids = new Set<string>()
  for (const [at, { id }] of rows.entries()) {
    if (ids.has(id)) problems.push({ path: [...path, at, 'id'], found: REPEATED, allowed: 'each id once' })
    ids.add(id)
  }
}
