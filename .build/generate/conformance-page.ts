import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from '../../src/compare/conform/check.ts'
import type { Mutant } from '../../test/mutants/mutant.ts'
import { markedSection } from './marked-section.ts'
import { operationsOf, readSpec, SPEC, type SpecOperation } from './spec-document.ts'
import type { Step } from './step.ts'

const CONFORMANCE = 'docs/conformance.md'
const MUTANTS = 'test/mutants/table.ts'

type Served = Pick<SpecOperation, 'id' | 'method' | 'path' | 'basis' | 'statusBasis'>

/** The proxy. The spec cannot describe it, because it takes any method and answers with the status of a third party. */
const PROXY: Served = {
  id: 'proxy_request',
  method: 'any',
  path: '/proxy/{path}',
  basis: ['convention'],
  statusBasis: new Map(),
}

/** One part of `docs/conformance.md`. */
interface Row {
  readonly name: string
  readonly operation: Served | null
  readonly checks: readonly Check[]
  readonly mutants: readonly Mutant[]
}

/** Every check of each operation, with the mutants that it catches. */
export const conformancePage: Step = {
  name: 'conformance page',
  inputs: [SPEC, 'src/compare/conform/check.ts', 'src/compare/conform/checks', 'test/mutants', 'test/mutants/table'],
  outputs: [CONFORMANCE],
  make: async (root) => {
    // The container image is built without `test/` and does not need the page.
    if (!existsSync(join(root, MUTANTS))) return new Map()
    return markedSection(root, CONFORMANCE, 'checks', (await rowsOf(root)).map(partOf).join('\n\n'))
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
