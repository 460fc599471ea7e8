import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSpec, SPEC } from './spec-document.ts'
import type { Step } from './step.ts'

const FIDELITY = 'docs/fidelity.md'
const OUTPUT = 'src/model/contract/generated/rules.ts'

/** A row of a table of `docs/fidelity.md`, or a part of the contract that cites a rule. */
export interface Row {
  readonly ids: readonly string[]
  readonly section: string
  readonly point: string
  readonly rule: string
  readonly basis: string
}

/** The rules that `toolmock explain` prints. They are a module because the package does not contain `docs/`. */
export const rules: Step = {
  name: 'rules',
  inputs: [FIDELITY, SPEC, 'src/model/domain', 'src/journal/request-journal'],
  outputs: [OUTPUT],
  make: async (root) => {
    const rows = [
      ...fidelityRows(await readFile(join(root, FIDELITY), 'utf8')),
      ...specRows(await readSpec(root)),
      ...(await errorRows()),
    ]
    return new Map([[OUTPUT, `${TYPE}\nexport const RULES: readonly Rule[] = ${JSON.stringify(rows, null, 1)}\n`]])
  },
}

const TYPE = `export interface Rule {
  /** The names that \`toolmock explain\` takes: \`G21\`, \`document:4.7\`, \`transport\`. */
  readonly ids: readonly string[]
  /** The part of docs/fidelity.md, or \`contract\`. */
  readonly section: string
  readonly point: string
  readonly rule: string
  readonly basis: string
}
`

async function errorRows(): Promise<Row[]> {
  const { ERROR_CATALOGUE } = await import('../../src/model/domain/errors.ts')
  const statuses: Readonly<Record<string, { readonly status: number }>> = ERROR_CATALOGUE
  return [...(await import('../../src/journal/request-journal/remedies.ts')).REMEDIES].map(
    ([code, { because, basis, advice }]) => {
      const status = statuses[code]?.status
      const point = status === undefined ? '' : String(status)
      return { ids: [code], section: 'Errors', point, rule: [because, ...advice].join(' '), basis }
    },
  )
}

/** The rows of the tables whose last column is `basis`, and of the table that explains `x-basis`. */
export function fidelityRows(text: string): Row[] {
  let [section, titles] = ['', [] as string[]]
  return text.split('\n').flatMap((line): Row[] => {
    if (line.startsWith('#')) [section, titles] = [line.replace(/^#+ /, ''), []]
    if (!line.startsWith('|')) {
      titles = []
      return []
    }
    const cells = line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'))
    if (titles.length === 0) titles = cells
    else if (!/^-+$/.test(cells[0] ?? '')) return rowOf(section, titles, cells)
    return []
  })
}

function rowOf(section: string, titles: readonly string[], cells: readonly string[]): Row[] {
  const [first = '', second = ''] = cells
  // The table that explains the values of `x-basis`: `transport`, `choice`.
  if (titles[0] === '`x-basis`') {
    const ids = [...first.matchAll(/`([a-z]+)`/g)].map(([, word = '']) => word)
    return ids.length === 0 ? [] : [{ ids, section, point: 'what it means', rule: second, basis: '' }]
  }
  if (titles.at(-1) !== 'basis') return []
  const basis = cells.at(-1) ?? ''
  const hasId = titles[0] === 'id'
  const texts = cells.slice(hasId ? 1 : 0, -1).filter((cell) => cell !== '')
  const rule = texts.at(-1) ?? ''
  const ids = [...(hasId ? [first] : []), ...basis.split(', ').filter((each) => each.startsWith('document:'))]
  return ids.length === 0 ? [] : [{ ids, section, point: texts.slice(0, -1).join(', '), rule, basis }]
}

/** Everything in the contract that cites a rule. */
function specRows(spec: object): Row[] {
  const rows: Row[] = []
  const visit = (value: unknown, path: readonly string[]): void => {
    if (value === null || typeof value !== 'object') return
    const node = value as Record<string, unknown>
    const cited = [node['x-basis'] ?? []].flat().map(String)
    const ids = cited
      .map((each) => each.replace(/^\w+:(?=G\d)/, ''))
      .filter((each) => /^(G\d+|document:.+)$/.test(each))
    if (ids.length > 0) {
      const described = [node['description'], node['summary']].find((each) => typeof each === 'string')
      const rule = (described ?? boundsOf(node)).trim().replaceAll(/\s+/g, ' ')
      rows.push({ ids, section: 'Contract', point: placeOf(spec, path, node), rule, basis: cited.join(', ') })
    }
    for (const [name, each] of Object.entries(node)) visit(each, [...path, name])
  }
  visit(spec, [])
  return rows
}

/** A schema without a description is about its bounds: `type string, minLength 3`. */
function boundsOf(node: Record<string, unknown>): string {
  const bounds = Object.entries(node).filter(([key, value]) => !key.startsWith('x-') && typeof value !== 'object')
  return bounds.map(([key, value]) => `${key} ${String(value)}`).join(', ')
}

/** `verify_user 403`, `list_connected_accounts: page_size`, `ConnectedAccount.status`. */
function placeOf(spec: object, path: readonly string[], node: Record<string, unknown>): string {
  // A schema without a name is that of its parameter.
  const parent = path.at(-1) === 'schema' ? at(spec, path.slice(0, -1))['name'] : undefined
  const own = [node['name'], parent, path.at(-1)].find((name) => typeof name === 'string') ?? ''
  if (path[0] !== 'paths') return [path[2] ?? '', ...(path.length > 3 ? [own] : [])].join('.')
  const { operationId = '' } = at(spec, path.slice(0, 3)) as { operationId?: string }
  if (path.length <= 3) return operationId
  return path[3] === 'responses' ? `${operationId} ${own}` : `${operationId}: ${own}`
}

function at(spec: object, path: readonly string[]): Record<string, unknown> {
  return path.reduce((node: object, key) => (node as Record<string, object>)[key] ?? {}, spec) as Record<
    string,
    unknown
  >
}
