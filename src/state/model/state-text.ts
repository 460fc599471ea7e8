import { jsonText } from '../../model/domain/json.ts'
import { isAscii } from 'node:buffer'
import { DEFAULT_SETTINGS } from '../../model/domain/settings.ts'
import { inColumnOrder, type Snapshot, type TableName } from './model.ts'
import { type EnvironmentImage, STATE_VERSION, type StateImage } from './state-image.ts'

/* Every row of a table is on a line of its own, so that a diff shows an account as one line. */

/** The text of a value. `margin` is the indentation of its first line. */
type Part<T = unknown> = (value: T, margin: string, name: string) => string

const line: Part = (value) => jsonText(value)

function rowsText(order: (row: object, name: string) => object): Part<readonly object[]> {
  return (all, margin, name) => {
    const texts = all.map((row) => `\n${margin}  ${jsonText(order(row, name))}`)
    return all.length > 0 ? `[${texts.join(',')}\n${margin}]` : '[]'
  }
}

const rows = rowsText((row) => row) as Part

/** An object or a list with each member on a line of its own, or more: by its name where `parts` has it. */
function members(parts: Readonly<Record<string, Part>>, otherwise: Part = line): Part {
  return (value, margin) => {
    const [start, end] = Array.isArray(value) ? '[]' : '{}'
    const inside = `${margin}  `
    const texts = (Object.entries(value as object) as [string, unknown][])
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => {
        const key = start === '{' ? `${jsonText(name)}: ` : ''
        const part = Object.hasOwn(parts, name) ? (parts[name] ?? otherwise) : otherwise
        return `\n${inside}${key}${part(member, inside, name)}`
      })
    return texts.length > 0 ? `${start}${texts.join(',')}\n${margin}${end}` : `${start}${end}`
  }
}

const IMAGE: Readonly<Record<string, Part>> = {
  settings: (settings) => line({ ...DEFAULT_SETTINGS, ...(settings as object) }, '', ''),
  tables: members({}, rowsText((row, name) => inColumnOrder(name as TableName, row)) as Part),
}
const image = members(IMAGE)
const NAMED = { id: '', taken_at: '' }
/** A seed may have as many accounts as the tables. */
const seed = members({}, (value, margin, name) => (Array.isArray(value) ? rows : line)(value, margin, name))
const baseline = members({ seed, exact: seed })
const STATE = members({
  environments: members(
    {},
    members({
      ...IMAGE,
      origins: members({}, baseline),
      scenario_definitions: rows,
      scenario_runs: rows,
      // Replay puts the name behind the rest.
      snapshots: members({}, (row, ...place) => image({ ...NAMED, ...(row as Snapshot) }, ...place)),
    }),
  ),
}) as Part<StateImage & { version: number }>

export function imageText(state: EnvironmentImage): string {
  return `${image(state, '', '')}\n`
}

export function stateText({ state_id, generation, request_ids, environments }: StateImage): string {
  const ids = request_ids ? { request_ids } : {}
  return `${STATE({ version: STATE_VERSION, state_id, generation, ...ids, environments }, '', '')}\n`
}

/** Decoding ASCII is several times faster than decoding UTF-8, and most of a state file is ASCII. */
export function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}
