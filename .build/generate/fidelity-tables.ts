import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from '../../src/compare/conform/check.ts'
import type { Mutant } from '../../test/mutants/mutant.ts'
import { markedSection } from './marked-section.ts'
import { operationsOf, readSpec, SPEC, type SpecOperation } from './spec-document.ts'
import type { Step } from './step.ts'

const FIDELITY = 'docs/fidelity.md'
const CONFORMANCE = 'docs/conformance.md'
const MUTANTS = 'test/mutants/table.ts'
const BASES = ['document', 'convention', 'choice'] as const

type Served = Pick<SpecOperation, 'id' | 'method' | 'path' | 'basis' | 'statusBasis'>

/** The proxy. The spec cannot describe it, because it takes any method and answers with the status of a third party. */
const PROXY: Served = {
  id: 'proxy_request',
  method: 'any',
  path: '/proxy/{path}',
  basis: ['convention'],
  statusBasis: new Map(),
}

/** One line of the table in `docs/fidelity.md`, and one part of `docs/conformance.md`. */
interface Row {
  readonly name: string
  readonly operation: Served | null
  readonly checks: readonly Check[]
  readonly mutants: readonly Mutant[]
}

/**
 * The operations, the basis of each and the checks that test it: one line for each operation in `docs/fidelity.md`, every check
 * with the mutants that it catches in `docs/conformance.md`.
 */
export const fidelityTables: Step = {
  name: 'fidelity tables',
  inputs: [SPEC, 'src/compare/conform/check.ts', 'src/compare/conform/checks', 'test/mutants', 'test/mutants/table'],
  outputs: [FIDELITY, CONFORMANCE],
  make: async (root) => {
    // The container image is built without `test/` and needs neither file.
    if (!existsSync(join(root, MUTANTS))) return new Map()
    const rows = await rowsOf(root)
    return new Map([
      ...(await markedSection(root, FIDELITY, 'fidelity', operationsTable(rows))),
      ...(await markedSection(root, CONFORMANCE, 'checks', rows.map(partOf).join('\n\n'))),
    ])
  },
}

async function rowsOf(root: string): Promise<Row[]> {
  const { CHECKS } = await import('../../src/compare/conform/checks/table.ts')
  const { MUTANTS } = await import('../../test/mutants/table.ts')
  const row = (name: string, operation: Served | null): Row => {
    const checks = CHECKS.filter((check) => check.operation === (operation?.id ?? null))
    const mutants = MUTANTS.filter(({ caughtBy }) => checks.some(({ id }) => id === caughtBy))
    return { name, operation, checks, mutants }
  }
  const operations = [...operationsOf(await readSpec(root)), PROXY]
  return [...operations.map((operation) => row(operation.id, operation)), row('any operation', null)]
}

function operationsTable(rows: readonly Row[]): string {
  const statuses = BASES.map((basis) =>
    rows.reduce((sum, { operation }) => sum + statusesOf(operation, basis).length, 0),
  )
  const checks = rows.flatMap((row) => row.checks)
  const mutants = rows.flatMap((row) => row.mutants)
  return [
    '| operation | method and path | `document` | `convention` | `choice` | checks | mutants |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(lineOf),
    `| **in all** | ${rows.length - 2} operations and the proxy | ${statuses.join(' | ')} | ${countsOf(checks)} = **${checks.length}** | **${mutants.length}** |`,
  ].join('\n')
}

function lineOf({ name, operation, checks, mutants }: Row): string {
  const statuses = BASES.map((basis) => statusesOf(operation, basis).join(', '))
  const [first, path] = operation
    ? [`\`${name}\``, `\`${operation.method.toUpperCase()} ${operation.path}\``]
    : [name, 'bearer, errors, bodies, ids']
  return `| ${first} | ${path} | ${statuses.join(' | ')} | ${countsOf(checks)} | ${mutants.length} |`
}

function statusesOf(operation: Served | null, basis: string): string[] {
  return [...(operation?.statusBasis ?? [])].filter(([, from]) => kindOf(from) === basis).map(([status]) => status)
}

function countsOf(checks: readonly Check[]): string {
  return BASES.map((basis) => checks.filter((check) => kindOf(check.basis) === basis).length).join(' + ')
}

function kindOf(basis: string): string {
  return basis.split(':')[0] ?? ''
}

function partOf({ name, operation, checks, mutants }: Row): string {
  const caught = (id: string): string =>
    mutants
      .filter(({ caughtBy }) => caughtBy === id)
      .map(({ what }) => what)
      .join('; ')
  return [
    ...(operation ? [`### \`${name}\``, '', originOf(operation)] : ['### Any operation']),
    '',
    '| check | what holds | basis | the mutants that it has to catch |',
    '| --- | --- | --- | --- |',
    ...checks.map(({ id, title, basis }) => `| \`${id}\` | ${cell(title)} | ${basis} | ${cell(caught(id))} |`),
  ].join('\n')
}

function originOf({ method, path, basis, statusBasis }: Served): string {
  const statuses = [...statusBasis].map(([status, from]) => `${status} (${from})`).join(', ')
  const from = `\`${method.toUpperCase()} ${path}\` (${basis.join(', ')})`
  return statuses === '' ? `${from} answers what the third party answers.` : `${from} answers ${statuses}.`
}

function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replace(/__\w+__/g, '`$&`')
    .replaceAll('{}', '`{}`')
}
