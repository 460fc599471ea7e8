import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import { byName } from '../model/state-image.ts'

/** Told of everything that is left out, and where it was. */
export type LeaveOut = (what: string) => void

interface Block {
  /** The first line, counted from 1. */
  line: number
  text: string
}

/** What begins on a line of its own in the layout of `snapshot-text.ts`, by indentation. */
const ENVIRONMENT = /^ {4}(?<name>"(?:[^"\\]|\\.)*"): \{$/
const PART = /^ {6}"(?<name>settings|clock|ids)": (?<value>.*)$/
const TABLE = /^ {8}"(?<name>\w+)": \[(?:\],?)?$/
const ROW = '          {'
const ROW_END = /^ {10}\},?$/
const PART_END = /^ {6}\},?$/
/** What frames all of that, and says nothing by itself. */
const FRAME = /^(?:\{| {2}"version": .*,| {2}"environments": \{(?:\},?)?| {6}"tables": \{| {8}\],?|(?: {2}){0,3}\},?)?$/

/**
 * Reads a damaged state file line by line, in the layout in which toolmock writes it: every row and every other part that
 * is whole is kept, however much around it is broken.
 */
export function salvageText(bytes: Buffer, leaveOut: LeaveOut): JsonObject {
  const reader = new Salvage(linesOf(bytes.toString('utf8')), isUtf8(bytes), leaveOut)
  return { version: 1, environments: reader.read() }
}

/** In the indentation and with the line breaks in which toolmock writes, whatever an editor has made of them. */
function linesOf(text: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const step = /^[ \t]+(?=")/.exec(lines[1] ?? '')?.[0].length ?? 2
  if (step === 2) return lines
  return lines.map((line) => {
    const { length } = /^[ \t]*/.exec(line)?.[0] ?? ''
    return '  '.repeat(Math.round(length / step)) + line.slice(length)
  })
}

class Salvage {
  readonly #lines: readonly string[]
  readonly #isUtf8: boolean
  readonly #leaveOut: LeaveOut
  #at = 0
  /** Where lines begin that say nothing. */
  #unreadFrom: number | undefined

  constructor(lines: readonly string[], wellEncoded: boolean, leaveOut: LeaveOut) {
    this.#lines = lines
    this.#isUtf8 = wellEncoded
    this.#leaveOut = leaveOut
  }

  read(): JsonObject {
    const environments = byName<JsonValue>([])
    let environment: { tables: JsonObject; [part: string]: JsonValue } | undefined
    let rows: JsonValue[] | undefined
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? ''
      this.#note(line)
      const name = ENVIRONMENT.exec(line)?.groups?.['name']
      const part = PART.exec(line)?.groups
      const table = TABLE.exec(line)?.groups?.['name']
      if (name !== undefined) {
        environment = { tables: {} }
        environments[JSON.parse(name) as string] = environment
        rows = undefined
      } else if (environment && part) this.#part(environment, part['name'] ?? '', part['value'] ?? '')
      else if (environment && table !== undefined) environment.tables[table] = rows = []
      else if (line === ROW) this.#row(rows)
    }
    this.#note('')
    return environments
  }

  /** Says once of lines that follow each other that they are left out. */
  #note(line: string): void {
    const isRead = [ENVIRONMENT, PART, TABLE, FRAME].some((known) => known.test(line)) || line === ROW
    if (!isRead) {
      this.#unreadFrom ??= this.#at
      return
    }
    const [from, to] = [this.#unreadFrom, this.#at]
    this.#unreadFrom = undefined
    if (from === undefined) return
    this.#leaveOut(`${to - from > 1 ? `lines ${from + 1} to ${to}` : `line ${to}`}: what cannot be read`)
  }

  #part(environment: JsonObject, name: string, value: string): void {
    if (value !== '{') {
      const read = parsed(value.replace(/,$/, ''))
      if (read !== undefined) environment[name] = read
      return
    }
    const block = this.#block(PART_END)
    const read = parsed(`{${block.text}`)
    if (isJsonObject(read)) environment[name] = read
    else this.#leaveOut(`line ${block.line}: the ${name} of an environment, which cannot be read`)
  }

  #row(rows: JsonValue[] | undefined): void {
    const block = this.#block(ROW_END)
    const row = parsed(`{${block.text}`)
    const isBroken = !isJsonObject(row) || (!this.#isUtf8 && block.text.includes('\ufffd'))
    if (isBroken) this.#leaveOut(`line ${block.line}: a row that cannot be read`)
    else if (rows) rows.push(row)
    else this.#leaveOut(`line ${block.line}: a row of a table that cannot be told`)
  }

  /** The lines up to the one that ends it; a new beginning ends it as well. */
  #block(end: RegExp): Block {
    const from = this.#at
    for (let at = from + 1; at < this.#lines.length; at++) {
      const line = this.#lines[at] ?? ''
      const isEnd = end.test(line)
      if (!isEnd && line !== ROW && !TABLE.test(line) && !ENVIRONMENT.test(line)) continue
      this.#at = isEnd ? at : at - 1
      return {
        line: from + 1,
        text: this.#lines
          .slice(from + 1, this.#at + 1)
          .join('\n')
          .replace(/,$/, ''),
      }
    }
    this.#at = this.#lines.length
    return { line: from + 1, text: this.#lines.slice(from + 1).join('\n') }
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
