import type { Rows, TableName } from '../model/model.ts'
import { TABLE_NAMES } from '../model/model.ts'
import { fieldNames } from './row-shapes.ts'
import type { EnvironmentImage, StateImage } from '../model/state-image.ts'

const ROWS_PER_PART = 128

/**
 * The text of a state file, part by part, so that no part takes long to make: what `JSON.stringify(image, null, 2)` gives,
 * with the keys of a row in the order of its table, whatever order the row was built in.
 */
export function* snapshotText(image: StateImage): Generator<string> {
  const environments = Object.entries(image.environments)
  if (environments.length === 0) {
    yield `{\n  "version": ${image.version},\n  "environments": {}\n}\n`
    return
  }
  yield `{\n  "version": ${image.version},\n  "environments": {`
  let separator = ''
  for (const [name, environment] of environments) {
    yield `${separator}\n    ${JSON.stringify(name)}: {`
    yield* environmentText(environment)
    yield '\n    }'
    separator = ','
  }
  yield '\n  }\n}\n'
}

function* environmentText({ settings, clock, ids, tables }: EnvironmentImage): Generator<string> {
  yield `\n      "settings": ${indented(settings, 6)},`
  yield `\n      "clock": ${indented(clock, 6)},`
  yield `\n      "ids": ${indented(ids, 6)},`
  yield '\n      "tables": {'
  let separator = ''
  for (const table of TABLE_NAMES) {
    yield `${separator}\n        ${JSON.stringify(table)}: [`
    yield* rowsText(table, tables[table])
    separator = ','
  }
  yield '\n      }'
}

function* rowsText<Name extends TableName>(table: Name, rows: readonly Rows[Name][]): Generator<string> {
  const names = fieldNames(table)
  for (let at = 0; at < rows.length; at += ROWS_PER_PART) {
    let text = at === 0 ? '' : ','
    let separator = ''
    for (const row of rows.slice(at, at + ROWS_PER_PART)) {
      text += `${separator}\n          ${indented(inOrder(row, names), 10)}`
      separator = ','
    }
    yield text
  }
  yield rows.length === 0 ? ']' : '\n        ]'
}

function inOrder(row: object, names: readonly string[]): object {
  const ordered: Record<string, unknown> = {}
  for (const name of names) ordered[name] = (row as Record<string, unknown>)[name]
  return ordered
}

/** A line break inside a string is escaped, so each one in the text is one of layout. */
function indented(value: unknown, spaces: number): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(spaces)}`)
}
