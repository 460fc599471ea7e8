import { accountName } from '../../model/domain/account.ts'
import type { Path, Problem } from '../../model/schema/problems.ts'
import { ACCOUNT_SEQUENCE, type Rows, SECTION_NAMES, TABLE_NAMES, type TableName } from '../model/model.ts'
import type { StateContent } from '../model/state-image.ts'

/* Rows that are valid each by itself, and contradict one another. A start and `PUT /_mock/state` refuse them. */

type TableRows = { readonly [Name in TableName]: readonly Rows[Name][] }

/** Of all environments of a state file. */
export function contradictions({ environments }: StateContent): Problem[] {
  const problems: Problem[] = []
  const owners = new Map<string, string>()
  for (const [name, image] of Object.entries(environments)) {
    const path = ['environments', name]
    problems.push(...contradictionsOf(image.tables, [...path, 'tables']))
    for (const section of SECTION_NAMES) findRepeated(image[section], 'id', [...path, section], problems)
    // The client id chooses the environment, so that no two environments can have the same.
    for (const [at, client] of image.tables.clients.entries()) {
      const owner = owners.get(client.id) ?? name
      if (owner !== name) problems.push(ofOther([...path, 'tables', 'clients', at, 'id'], owner))
      owners.set(client.id, owner)
    }
  }
  return problems
}

/** Of the tables of one environment. */
export function contradictionsOf(tables: TableRows, path: Path): Problem[] {
  const problems: Problem[] = []
  for (const name of TABLE_NAMES) findRepeated(tables[name], 'id', [...path, name], problems)
  findRepeated(tables.accounts, 'sequence', [...path, 'accounts'], problems)
  const names = new Set<string>()
  for (const [at, account] of tables.accounts.entries()) {
    const { size } = names
    if (names.add(accountName(account)).size > size) continue
    const allowed = 'each identifier once at a connector in a scope'
    problems.push({ path: [...path, 'accounts', at, 'identifier'], found: REPEATED, allowed })
  }
  const counted = tables.counters.find(({ id }) => id === ACCOUNT_SEQUENCE)?.value ?? 0
  const last = tables.accounts.reduce((highest, { sequence }) => Math.max(highest, sequence), 0)
  // A new account must not get the place of one that exists.
  if (last > counted) {
    const allowed = `${ACCOUNT_SEQUENCE} of at least ${last}, the sequence of the last account`
    problems.push({ path: [...path, 'counters'], found: `${ACCOUNT_SEQUENCE} ${counted}`, allowed })
  }
  return problems
}

const REPEATED = 'the same for the second time'

/** A row whose id chooses an environment, and already chooses another one. */
export function ofOther(path: Path, owner: string): Problem {
  return { path, found: `what the environment ${owner} has`, allowed: 'an id that no other environment has' }
}

function findRepeated<Key extends string>(
  rows: readonly { readonly [Name in Key]: string | number }[],
  key: Key,
  path: Path,
  problems: Problem[],
): void {
  const values = new Set<string | number>()
  for (const [at, row] of rows.entries()) {
    if (!values.has(row[key])) values.add(row[key])
    else problems.push({ path: [...path, at, key], found: REPEATED, allowed: `each ${key} once` })
  }
}
