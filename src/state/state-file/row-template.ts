import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import type { Shape } from './shape.ts'

/** A line of a row whose value stands alone in it. */
export interface Line {
  text: string
  /** From the row down to the value; undefined where rows are not told apart: inside lists and under unusual names. */
  path: readonly string[] | undefined
  kind: 'text' | 'integer' | undefined
  /** The value in the text, without quotes. */
  start: number
  end: number
}

/** A place in which rows that are otherwise equal differ. */
export interface Slot {
  readonly path: readonly string[]
  readonly kind: 'text' | 'instant' | 'integer'
}

const LINE = /^ *(?:"(?<name>[^"\\]*)": )?(?:"(?<text>(?:[^"\\]|\\.)*)"|(?<integer>0|[1-9]\d{0,14})|(?<open>[[{])),?$/d
/** Names that can be assigned to, and that need no escaping. */
const NAME = /^(?!__proto__$)\w+$/
/** What a field that takes any text takes, and what one that takes only instants takes. */
const PROBES = { text: '', instant: '2000-01-01T00:00:00.000Z', integer: 1 } as const

/** Rows that have the same lines but for some values, which are their slots; all else in them is one object for all. */
export class RowTemplate {
  readonly #row: JsonObject
  readonly #lines: readonly Line[]
  readonly #shape: Shape
  readonly #slotOf = new Map<Line, Slot>()
  /** The objects inside of a row that have slots, the outer ones first. */
  #holders: (readonly string[])[] = []
  slots: readonly Slot[] = []
  /** The bytes before the first slot, between two of them, and behind the last. */
  segments: readonly DataView[]

  /** `row` is what the lines say, and has this shape. */
  constructor(lines: readonly Line[], row: JsonObject, shape: Shape) {
    this.#row = row
    this.#lines = lines
    this.#shape = shape
    this.segments = [viewOf(lines.map(({ text }) => text).join(''))]
  }

  /** Makes slots of all in which a row differs, so that the next one like it fits; false when it is of another kind. */
  admit(lines: readonly Line[]): boolean {
    if (lines.length !== this.#lines.length) return false
    const added = new Map<Line, Slot>()
    for (const [at, line] of this.#lines.entries()) {
      const other = lines[at]
      if (other?.text === line.text || (this.#slotOf.has(line) && alike(line, other))) continue
      const slot = alike(line, other) ? this.#slot(line) : undefined
      if (!slot) return false
      added.set(line, slot)
    }
    for (const [line, slot] of added) this.#slotOf.set(line, slot)
    this.#cut()
    return true
  }

  /** A row with these values in its slots. */
  row(values: readonly JsonValue[]): JsonObject {
    const row = { ...this.#row }
    for (const path of this.#holders) {
      const holder = holderOf(row, path)
      const name = path[path.length - 1] ?? ''
      holder[name] = { ...(holder[name] as JsonObject) }
    }
    for (let at = 0; at < this.slots.length; at++) {
      const path = this.slots[at]?.path ?? []
      holderOf(row, path)[path[path.length - 1] ?? ''] = values[at] ?? null
    }
    return row
  }

  /** A line may only become a slot when any value of its kind leaves the shape of the row as it is. */
  #slot({ path, kind }: Line): Slot | undefined {
    if (!path || !kind) return undefined
    const kinds = kind === 'integer' ? (['integer'] as const) : (['text', 'instant'] as const)
    const found = kinds.find((each) => {
      const row = structuredClone(this.#row)
      holderOf(row, path)[path[path.length - 1] ?? ''] = PROBES[each]
      return this.#shape(row) === undefined
    })
    return found && { path, kind: found }
  }

  #cut(): void {
    const segments: string[] = []
    const slots: Slot[] = []
    let segment = ''
    for (const line of this.#lines) {
      const slot = this.#slotOf.get(line)
      if (slot) {
        slots.push(slot)
        segments.push(segment + line.text.slice(0, line.start))
        segment = line.text.slice(line.end)
      } else segment += line.text
    }
    this.slots = slots
    this.segments = [...segments, segment].map(viewOf)
    const holders = new Map(
      slots.flatMap(({ path }) =>
        path.slice(0, -1).map((_, at) => [path.slice(0, at + 1).join(), path.slice(0, at + 1)]),
      ),
    )
    this.#holders = [...holders.values()].sort((a, b) => a.length - b.length)
  }
}

function viewOf(text: string): DataView {
  return new DataView(Uint8Array.from(Buffer.from(text, 'latin1')).buffer)
}

/** The object inside a row that has what a path leads to. */
function holderOf(row: JsonObject, path: readonly string[]): JsonObject {
  let holder = row
  for (let at = 0; at + 1 < path.length; at++) {
    const inner = holder[path[at] ?? '']
    if (isJsonObject(inner)) holder = inner
  }
  return holder
}

/** Whether two lines differ in their value alone. */
function alike(a: Line, b: Line | undefined): boolean {
  return (
    a.kind !== undefined &&
    a.kind === b?.kind &&
    a.text.slice(0, a.start) === b.text.slice(0, b.start) &&
    a.text.slice(a.end) === b.text.slice(b.end)
  )
}

/** The lines of a row's text, which has one character for each byte. */
export function linesOf(text: string): Line[] {
  /** What leads to the object or list that a line is in; the row itself has no name. */
  const inside: (string | undefined)[] = []
  return text.split(/(?<=\n)/).map((line) => {
    const { groups, indices } = LINE.exec(line.trimEnd()) ?? {}
    const name = groups?.['name']
    const step = name !== undefined && NAME.test(name) ? name : undefined
    const path = [...inside.slice(1), step]
    if (/^ *[\]}]/.test(line)) inside.pop()
    if (groups?.['open']) inside.push(groups['open'] === '{' ? step : undefined)
    const kind = (['text', 'integer'] as const).find((each) => groups?.[each] !== undefined)
    const [start, end] = (kind && indices?.groups?.[kind]) ?? [0, 0]
    return { text: line, path: path.every((each) => each !== undefined) ? path : undefined, kind, start, end }
  })
}
