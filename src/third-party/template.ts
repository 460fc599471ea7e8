import type { JsonObject, JsonValue } from '../domain/json.ts'
import type { Clock, Ids } from '../domain/ports.ts'
import { FakeData } from './fake-data.ts'
import { type HelperPorts, asText, runHelper } from './template-helpers.ts'
import { type Expression, type Piece, type Template, parseTemplate } from './template-syntax.ts'

/** What a template can see: the names that its paths start with, and the environment's time and ids. */
export interface TemplateScope {
  readonly values: JsonObject
  readonly clock: Clock
  readonly ids: Ids
}

/** The value that paths start from, and what the blocks around it have bound. */
interface Frame {
  readonly context: JsonValue | undefined
  readonly parent: Frame | undefined
  /** `@index`, `@key`, `@first`, `@last`. */
  readonly data: JsonObject
  /** Names given by `as |item index|`. */
  readonly names: JsonObject
  readonly ports: HelperPorts
}

const CACHE_LIMIT = 5_000
const NOTHING: JsonObject = Object.freeze(Object.create(null) as JsonObject)

/**
 * Handlebars templates in JSON values, evaluated without ever running code: own properties and a fixed table of helpers.
 * A string that is one whole expression keeps the value's type, with null for a missing one; in a longer text a missing
 * value is nothing. Values are never read as templates. One instance per server: it keeps what it has parsed.
 */
export class Templates {
  readonly #parsed = new Map<string, Template>()
  readonly #prepared = new WeakSet()
  #fakeData: FakeData | undefined

  /** Loads what the templates inside `source` need; a no-op the second time. @throws TemplateError */
  async prepare(source: object): Promise<void> {
    if (this.#prepared.has(source)) return
    if (!this.#fakeData && this.#someText(source, (text) => usesFakeData(this.#parse(text)))) {
      this.#fakeData = await FakeData.load()
    }
    this.#prepared.add(source)
  }

  isPrepared(source: object): boolean {
    return this.#prepared.has(source)
  }

  /** `value` with every template in it evaluated. Keys are taken as they are. */
  render(value: JsonValue, scope: TemplateScope): JsonValue {
    const root = this.#root(scope)
    return this.#render(value, root)
  }

  /** A text in which `encode` is applied to every value, and not to the text around it. */
  renderText(text: string, scope: TemplateScope, encode: (value: string) => string): string {
    if (!text.includes('{{')) return text
    return textOf(this.#parse(text), this.#root(scope), encode)
  }

  #root(scope: TemplateScope): Frame {
    const ports = { clock: scope.clock, ids: scope.ids, fakeData: this.#fakeData }
    return { context: scope.values, parent: undefined, data: NOTHING, names: NOTHING, ports }
  }

  #render(value: JsonValue, root: Frame): JsonValue {
    if (typeof value === 'string') return value.includes('{{') ? whole(this.#parse(value), root) : value
    if (Array.isArray(value)) return value.map((item) => this.#render(item, root))
    if (typeof value !== 'object' || value === null) return value
    const rendered = Object.create(null) as JsonObject
    for (const [key, item] of Object.entries(value)) rendered[key] = this.#render(item, root)
    return rendered
  }

  #parse(text: string): Template {
    const known = this.#parsed.get(text)
    if (known) return known
    // Connectors can be replaced while the server runs; what is still in use is soon parsed again.
    if (this.#parsed.size >= CACHE_LIMIT) this.#parsed.clear()
    const template = parseTemplate(text)
    this.#parsed.set(text, template)
    return template
  }

  #someText(value: unknown, test: (text: string) => boolean): boolean {
    if (typeof value === 'string') return value.includes('{{') && test(value)
    if (typeof value !== 'object' || value === null) return false
    return Object.values(value).some((item) => this.#someText(item, test))
  }
}

function usesFakeData(template: Template): boolean {
  const inExpression = (expression: Expression): boolean =>
    expression.kind === 'call' && (expression.helper === 'faker' || expression.args.some(inExpression))
  return template.some((piece) => {
    if (piece.kind === 'text') return false
    if (piece.kind === 'value') return inExpression(piece.expression)
    return inExpression(piece.subject) || usesFakeData(piece.then) || usesFakeData(piece.otherwise)
  })
}

function whole(template: Template, frame: Frame): JsonValue {
  const [only, ...others] = template
  if (only?.kind === 'value' && others.length === 0) return evaluate(only.expression, frame) ?? null
  return textOf(template, frame, (text) => text)
}

function textOf(template: Template, frame: Frame, encode: (value: string) => string): string {
  let text = ''
  for (const piece of template) {
    if (piece.kind === 'text') text += piece.text
    else if (piece.kind === 'value') text += encode(asText(evaluate(piece.expression, frame)))
    else text += blockText(piece, frame, encode)
  }
  return text
}

function blockText(piece: Piece & { kind: 'block' }, frame: Frame, encode: (value: string) => string): string {
  const subject = evaluate(piece.subject, frame)
  const otherwise = (): string => textOf(piece.otherwise, frame, encode)
  switch (piece.block) {
    case 'if':
      return isTrue(subject) ? textOf(piece.then, frame, encode) : otherwise()
    case 'unless':
      return isTrue(subject) ? otherwise() : textOf(piece.then, frame, encode)
    case 'with':
      return isTrue(subject) ? textOf(piece.then, inner(frame, piece, [subject], frame.data), encode) : otherwise()
    case 'each': {
      const entries = typeof subject === 'object' && subject !== null ? Object.entries(subject) : []
      if (entries.length === 0) return otherwise()
      return entries
        .map(([key, item], index) => {
          const data = { index, key, first: index === 0, last: index === entries.length - 1 }
          const position = Array.isArray(subject) ? index : key
          return textOf(piece.then, inner(frame, piece, [item, position], data), encode)
        })
        .join('')
    }
  }
}

function inner(
  frame: Frame,
  piece: Piece & { kind: 'block' },
  bound: readonly (JsonValue | undefined)[],
  data: JsonObject,
): Frame {
  const names = Object.assign(Object.create(null) as JsonObject, frame.names)
  piece.names.forEach((name, at) => {
    names[name] = bound[at] ?? null
  })
  return { context: bound[0], parent: frame, data, names, ports: frame.ports }
}

function evaluate(expression: Expression, frame: Frame): JsonValue | undefined {
  if (expression.kind === 'literal') return expression.value
  if (expression.kind === 'path') return follow(expression.parts, start(expression, frame))
  const args = expression.args.map((arg) => evaluate(arg, frame))
  if (expression.options.length > 0) {
    args.push(Object.fromEntries(expression.options.map(([key, value]) => [key, evaluate(value, frame) ?? null])))
  }
  return runHelper(expression.helper, args, frame.ports)
}

function start(path: Expression & { kind: 'path' }, frame: Frame): JsonValue | undefined {
  const head = path.parts[0]
  if (path.data) return { ...frame.data, root: outermost(frame).context ?? null }
  if (path.depth === 0) return head !== undefined && Object.hasOwn(frame.names, head) ? frame.names : frame.context
  let at: Frame | undefined = frame
  for (let steps = path.depth; steps > 0; steps -= 1) at = at?.parent
  return at?.context
}

function outermost(frame: Frame): Frame {
  return frame.parent ? outermost(frame.parent) : frame
}

/** Own properties only: a path can never reach a prototype or a function. */
function follow(parts: readonly string[], from: JsonValue | undefined): JsonValue | undefined {
  let value = from
  for (const part of parts) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as JsonObject)[part]
  }
  return value
}

/** As Handlebars has it: nothing, false, 0, an empty text and an empty list are not. */
function isTrue(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}
