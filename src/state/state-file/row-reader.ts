import type { JsonObject, JsonValue } from '../../domain/json.ts'
import { arePlain, startsWith } from './byte-runs.ts'
import { linesOf, RowTemplate, type Slot } from './row-template.ts'
import { instantText, type Shape } from './shape.ts'

/** A row is expected to repeat texts of another table's rows; then it need not hold its own. */
export interface Kin {
  /** What a field probably says, given the fields before it. */
  likely(field: string): string | undefined
  /** Takes note of what it says; answers an equal text. */
  instead(field: string, text: string): string
}

/** Rows as they were found, and where they end. */
export interface RowsRead {
  rows: JsonObject[]
  /** Behind the last row. */
  end: number
  /** Whether all of them have the shape of their table. */
  isSound: boolean
}

const WINDOW = 1024 * 1024
/** Rows are read from the window as long as so many bytes are left in it. */
const LONGEST_ROW = 64 * 1024
const KINDS = 16
/** As many values of a slot are remembered, because they may come again. */
const RECENT = 4
/** After so many rows in which a value of a slot never came again none is looked for. */
const NEVER_AGAIN = 64
/** Among so many rows with nothing in common with those before there is nothing to be gained. */
const STRANGERS = 500

const ROW_START = '          {'
const ROW_END = '\n          }'
const [QUOTE, BACKSLASH, COMMA, NEWLINE, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x0a, 0x30, 0x39] as const

/** What a slot held in the rows before. */
interface Memory {
  recent: string[]
  unlike: number
}

/** A template at work. */
interface Kind {
  template: RowTemplate
  /** For each slot. */
  memories: Memory[]
}

/**
 * Reads the rows of one table. Most rows repeat the one before but for a few values: what they repeat is compared, not
 * parsed, needs no check of its shape, and is shared, which takes half of the time and of the memory. Any other row is
 * parsed by itself.
 */
export class RowReader {
  readonly #bytes: Buffer
  readonly #shape: Shape
  readonly #kin: Kin | undefined
  /** A copy of some of the bytes: those of a file are in memory that is slow to look at byte by byte. */
  readonly #window: Buffer
  readonly #view: DataView
  #windowStart = 0
  #windowEnd = 0
  /** The one that fitted last comes first. */
  readonly #kinds: Kind[] = []
  #strangers = 0
  #isSound = true
  /** Of the slots of the row at hand, in the window. */
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  /** Whether they are more than plain ASCII. */
  readonly #special: boolean[] = []

  constructor(bytes: Buffer, shape: Shape, kin?: Kin) {
    this.#bytes = bytes
    this.#shape = shape
    this.#kin = kin
    this.#window = Buffer.allocUnsafeSlow(WINDOW)
    this.#view = new DataView(this.#window.buffer, this.#window.byteOffset, WINDOW)
  }

  /** The rows from here on; undefined when most of them have little in common. @throws SyntaxError */
  read(start: number): RowsRead | undefined {
    const rows: JsonObject[] = []
    for (let at = start; ;) {
      const from = this.#look(at)
      const known = this.#known(from)
      if (known) {
        rows.push(known.row)
        at += known.length
      } else {
        const { row, end } = this.#stranger(at)
        rows.push(row)
        at = end
        if (++this.#strangers > STRANGERS && this.#strangers * 8 > rows.length) return undefined
      }
      const next = this.#look(at)
      if (this.#window[next] !== COMMA || this.#window[next + 1] !== NEWLINE)
        return { rows, end: at, isSound: this.#isSound }
      at += 2
    }
  }

  /** Where in the window a place of the file is. */
  #look(at: number): number {
    if (at + LONGEST_ROW > this.#windowEnd && this.#windowEnd < this.#bytes.length) {
      this.#windowStart = at
      this.#windowEnd = at + this.#bytes.copy(this.#window, 0, at, at + WINDOW)
    }
    return at - this.#windowStart
  }

  #known(from: number): { row: JsonObject; length: number } | undefined {
    for (let at = 0; at < this.#kinds.length; at++) {
      const kind = this.#kinds[at]
      const end = kind ? this.#match(kind.template, from) : -1
      if (!kind || end < 0) continue
      if (at > 0) {
        this.#kinds.splice(at, 1)
        this.#kinds.unshift(kind)
      }
      const values = this.#values(kind)
      return values && { row: kind.template.row(values), length: end - from }
    }
    return undefined
  }

  /** Where the row ends that begins here, when it is of this kind; otherwise -1. */
  #match({ segments, slots }: RowTemplate, from: number): number {
    const limit = this.#windowEnd - this.#windowStart
    let at = from
    for (let index = 0; index < segments.length; index++) {
      const segment = segments[index]
      if (!segment || at + segment.byteLength >= limit || !startsWith(this.#view, at, segment)) return -1
      at += segment.byteLength
      const slot = slots[index]
      if (!slot) continue
      this.#starts[index] = at
      at = slot.kind === 'integer' ? this.#integerEnd(at) : this.#textEnd(at, index, limit)
      if (at < 0) return -1
      this.#ends[index] = at
    }
    return at
  }

  #integerEnd(from: number): number {
    let at = from
    while ((this.#window[at] ?? 0) >= ZERO && (this.#window[at] ?? 0) <= NINE) at++
    const length = at - from
    return length === 0 || length > 15 || (length > 1 && this.#window[from] === ZERO) ? -1 : at
  }

  #textEnd(from: number, index: number, limit: number): number {
    let special = false
    for (let at = from; at < limit; at++) {
      while (at + 4 < limit && arePlain(this.#view.getInt32(at))) at += 4
      const byte = this.#window[at] ?? 0
      if (byte === QUOTE) {
        this.#special[index] = special
        return at
      }
      if (byte < 0x20) return -1
      if (byte === BACKSLASH) at++
      if (byte === BACKSLASH || byte >= 0x80) special = true
    }
    return -1
  }

  /** Undefined when a value is not what may stand there. */
  #values({ template: { slots }, memories }: Kind): JsonValue[] | undefined {
    const values: JsonValue[] = []
    for (let index = 0; index < slots.length; index++) {
      const [slot, memory] = [slots[index], memories[index]]
      if (!slot || !memory) continue
      const value = slot.kind === 'integer' ? Number(this.#plain(index)) : this.#text(slot, index, memory)
      if (slot.kind === 'instant' && instantText(value)) return undefined
      values.push(value)
    }
    return values
  }

  #text({ path }: Slot, index: number, memory: Memory): string {
    const kin = path.length === 1 ? this.#kin : undefined
    const field = path[0] ?? ''
    const likely = kin?.likely(field)
    if (likely !== undefined && this.#says(index, likely)) return kin?.instead(field, likely) ?? likely
    const known = this.#remembered(index, memory)
    if (known !== undefined) return kin?.instead(field, known) ?? known
    const text = this.#special[index] ? this.#parsed(index) : this.#plain(index)
    const kept = kin?.instead(field, text) ?? text
    if (memory.unlike < NEVER_AGAIN && memory.recent.push(kept) > RECENT) memory.recent.shift()
    return kept
  }

  #remembered(index: number, memory: Memory): string | undefined {
    if (memory.unlike === NEVER_AGAIN) return undefined
    for (const text of memory.recent) {
      if (!this.#says(index, text)) continue
      memory.unlike = 0
      return text
    }
    memory.unlike++
    return undefined
  }

  /** Whether a slot of the row at hand holds exactly this text. */
  #says(index: number, text: string): boolean {
    const start = this.#starts[index] ?? 0
    const length = (this.#ends[index] ?? 0) - start
    if (this.#special[index] || text.length !== length) return false
    for (let at = 0; at < length; at++) if (this.#window[start + at] !== text.charCodeAt(at)) return false
    return true
  }

  #plain(index: number): string {
    return this.#window.toString('latin1', this.#starts[index], this.#ends[index])
  }

  #parsed(index: number): string {
    return JSON.parse(`"${this.#window.toString('utf8', this.#starts[index], this.#ends[index])}"`) as string
  }

  /** A row that is like none before; the next one like it will be known. @throws SyntaxError */
  #stranger(at: number): { row: JsonObject; end: number } {
    const last = this.#bytes.indexOf(ROW_END, at)
    const end = last + ROW_END.length
    if (last < 0) throw new SyntaxError('a row without an end')
    const text = this.#bytes.toString('latin1', at, end)
    const row = JSON.parse(this.#bytes.toString('utf8', at, end)) as JsonObject
    if (this.#shape(row)) this.#isSound = false
    else if (text.startsWith(ROW_START)) this.#learn(text, row)
    return { row, end }
  }

  #learn(text: string, row: JsonObject): void {
    const lines = linesOf(text)
    const kind = this.#kinds.find(({ template }) => template.admit(lines))
    if (kind) kind.memories = kind.template.slots.map(() => ({ recent: [], unlike: 0 }))
    else {
      this.#kinds.unshift({ template: new RowTemplate(lines, row, this.#shape), memories: [] })
      if (this.#kinds.length > KINDS) this.#kinds.pop()
    }
  }
}
