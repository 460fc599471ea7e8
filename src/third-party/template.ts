import type { Account } from '../domain/account.ts'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import { type Instant, instant } from '../domain/instant.ts'
import { isBlank, isJsonObject, type JsonObject, type JsonValue, setOwn } from '../domain/json.ts'
import type { Clock, Ids } from '../domain/ports.ts'
import { quote } from '../domain/text.ts'
import { FakeData } from './fake-data.ts'
import { TemplateError } from './template-error.ts'
import { type Expression, type HelperName, parseTemplate, type Piece, type Template } from './template-syntax.ts'

/** What a template can see: the names that its paths start with, and the environment's time and ids. */
export interface TemplateScope {
  readonly values: JsonObject
  readonly clock: Clock
  readonly ids: Ids
}

/** What templates and matches see of an account: everything but its credentials. */
export function accountView(account: Account): JsonObject {
  const { id, identifier, connector, organization_id, user_id, api_config } = account
  return { id, identifier, connector, organization_id, user_id, api_config }
}

/** The value that paths start from, and the names that enclosing blocks have bound. */
interface Frame {
  readonly context: JsonValue | undefined
  readonly parent: Frame | undefined
  /** `@index`, `@key`, `@first`, `@last`. */
  readonly data: JsonObject
  /** Names given by `as |item index|`. */
  readonly names: JsonObject
  readonly ports: HelperPorts
}

const MAX_CACHED = 5_000
const NOTHING: JsonObject = Object.freeze(Object.create(null) as JsonObject)

/**
 * Handlebars templates in JSON values, evaluated without ever running code: own properties and a fixed table of helpers.
 * A string that is one whole expression keeps the value's type, with null for a missing one; in a longer text a missing
 * value is empty. Values are never read as templates. One instance per server: it caches parsed templates.
 */
export class Templates {
  readonly #parsed = new Map<string, Template>()
  readonly #prepared = new WeakSet()
  #fakeData: FakeData | undefined

  /** Loads what the templates inside `source`, most often a connector, need; undefined when it is there. */
  prepare(source: object): Promise<void> | undefined {
    if (this.#fakeData || this.#prepared.has(source)) return undefined
    if (mayUseFakeData(source)) {
      return FakeData.load().then((fakeData) => {
        this.#fakeData = fakeData
      })
    }
    this.#prepared.add(source)
    return undefined
  }

  /** `value` with every template in it evaluated. Keys are not templates. */
  render(value: JsonValue, scope: TemplateScope): JsonValue {
    // Most values that collections give to fields are no template, and need nothing made for them.
    if (typeof value === 'string' ? !value.includes('{{') : typeof value !== 'object') return value
    return this.#render(value, this.#root(scope))
  }

  /** A text in which every value is encoded, and the text around it is not. */
  renderText(text: string, scope: TemplateScope, encode: (value: string) => string): string {
    if (!text.includes('{{')) return text
    return textOf(this.#parse(text), this.#root(scope), encode)
  }

  /** A text that is empty when one of its values is: `Bearer ` alone is no credential. */
  renderComplete(text: string, scope: TemplateScope): string {
    const values: string[] = []
    const rendered = this.renderText(text, scope, (value) => {
      values.push(value)
      return value
    })
    return values.includes('') ? '' : rendered
  }

  #root(scope: TemplateScope): Frame {
    const ports = { clock: scope.clock, ids: scope.ids, fakeData: this.#fakeData, budget: new Budget() }
    return { context: scope.values, parent: undefined, data: NOTHING, names: NOTHING, ports }
  }

  #render(value: JsonValue, root: Frame): JsonValue {
    if (typeof value === 'string') return value.includes('{{') ? whole(this.#parse(value), root) : value
    if (Array.isArray(value)) return value.map((item) => this.#render(item, root))
    if (typeof value !== 'object' || value === null) return value
    const rendered: JsonObject = {}
    for (const key of Object.keys(value)) setOwn(rendered, key, this.#render(value[key] ?? null, root))
    return rendered
  }

  #parse(text: string): Template {
    const known = this.#parsed.get(text)
    if (known) return known
    // Connectors can be replaced while the server runs; templates still in use are parsed again.
    if (this.#parsed.size >= MAX_CACHED) this.#parsed.clear()
    const template = parseTemplate(text)
    this.#parsed.set(text, template)
    return template
  }
}

function mayUseFakeData(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('{{') && value.includes('faker')
  return typeof value === 'object' && value !== null && Object.values(value).some(mayUseFakeData)
}

function whole(template: Template, frame: Frame): JsonValue {
  const [only, ...others] = template
  if (only?.kind === 'value' && others.length === 0) {
    const value = evaluate(only.expression, frame) ?? null
    frame.ports.budget.value(value)
    return value
  }
  return textOf(template, frame, (text) => text)
}

function textOf(template: Template, frame: Frame, encode: (value: string) => string): string {
  const texts = template.map((piece) => {
    if (piece.kind === 'block') return blockText(piece, frame, encode)
    const text = piece.kind === 'text' ? piece.text : encode(textIn(evaluate(piece.expression, frame), frame))
    frame.ports.budget.text(text.length)
    return text
  })
  return texts.join('')
}

/** An object is counted before it becomes a text. */
function textIn(value: JsonValue | undefined, { ports: { budget } }: Frame): string {
  if (typeof value === 'object') budget.value(value)
  return asText(value)
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
      frame.ports.budget.step(entries.length)
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
  frame.ports.budget.step()
  if (expression.kind === 'literal') return expression.value
  if (expression.kind === 'path') return follow(expression.parts, start(expression, frame))
  const args = expression.args.map((arg) => evaluate(arg, frame))
  if (expression.options.length > 0) {
    args.push(Object.fromEntries(expression.options.map(([key, value]) => [key, evaluate(value, frame) ?? null])))
  }
  return HELPERS[expression.helper](args, frame.ports)
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

/** As in Handlebars: a missing value, false, 0, an empty text and an empty list are false. */
function isTrue(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Expressions, turns of a loop, and random numbers of generated data, while a value is rendered. */
export const MAX_STEPS = 100_000
/** Characters that the templates of a value make. */
export const MAX_TEXT = 4 * 1024 * 1024

/** What rendering one value may still use. Steps are counted, and not time, so that the same template always ends the same way. */
class Budget {
  #steps = MAX_STEPS
  #text = MAX_TEXT

  /** @throws TemplateError */
  step(count = 1): void {
    this.#steps -= count
    if (this.#steps < 0) throw new TemplateError(`the template takes more than ${MAX_STEPS} steps`)
  }

  /** @throws TemplateError */
  text(length: number): void {
    this.#text -= length
    if (this.#text < 0) throw new TemplateError(`the template makes more than ${MAX_TEXT} characters`)
  }

  /** Counts a value that is in the result as it is: its texts, and a character for everything else. */
  value(value: JsonValue | undefined): void {
    if (typeof value === 'string') {
      this.text(value.length)
      return
    }
    const rest: (JsonValue | undefined)[] = [value]
    for (let at = rest.pop(); at !== undefined; at = rest.pop()) {
      this.text(typeof at === 'string' ? at.length : 1)
      if (typeof at !== 'object' || at === null) continue
      if (Array.isArray(at)) for (const item of at) rest.push(item)
      else {
        for (const name of Object.keys(at)) {
          this.text(name.length)
          rest.push(at[name])
        }
      }
    }
  }
}

/** What helpers may use besides their arguments. */
interface HelperPorts {
  readonly clock: Clock
  readonly ids: Ids
  /** Absent until a template that needs it was prepared. */
  readonly fakeData: FakeData | undefined
  readonly budget: Budget
}

type HelperArguments = readonly (JsonValue | undefined)[]

type Helper = (args: HelperArguments, ports: HelperPorts) => JsonValue | undefined

/** What each helper that a template may call does; nothing else can be called. */
const HELPERS: Readonly<Record<HelperName, Helper>> = {
  id: (_args, { ids }) => shortId(ids),
  uuid: (_args, { ids }) => uuid(ids),
  now: ([distance], { clock }) => shifted(clock, distance),
  date: ([distance], { clock }) => shifted(clock, distance).slice(0, 10),
  json: ([value], { budget }) => {
    budget.value(value)
    return JSON.stringify(value ?? null)
  },
  default: ([value, fallback]) => (isBlank(value) ? fallback : value),
  eq: ([a, b]) => (a ?? null) === (b ?? null),
  sum: (terms) => sum(terms),
  without: ([object, ...names]) =>
    isJsonObject(object)
      ? Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
      : object,
  basic: ([username, password]) =>
    isBlank(username) && isBlank(password) ? undefined : basic(asText(username), asText(password)),
  faker: fake,
}

/** A value inside a longer text: empty for a missing one, JSON for arrays and objects. */
export function asText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Rounded to six decimals, so that 0.1 and 0.2 are 0.3; what is no number counts as 0. */
function sum(terms: HelperArguments): number {
  const numbers = terms.map((term) => (isBlank(term) || typeof term === 'object' ? 0 : Number(term)))
  const total = numbers.reduce((before, number) => before + (Number.isFinite(number) ? number : 0), 0)
  return Number(total.toFixed(6))
}

/** The clock's time so far away: `-2h` is two hours ago, `1d` tomorrow. */
function shifted(clock: Clock, distance: JsonValue | undefined): Instant {
  if (distance === undefined) return clock.instant()
  const text = asText(distance)
  const milliseconds = parseDuration(text.replace(/^[+-]/, '') || 0)
  if (milliseconds === undefined)
    throw new TemplateError(`${quote(text, 80)} is no duration; it may be ${DURATION_FORMS}`)
  return instant(clock.now() + (text.startsWith('-') ? -milliseconds : milliseconds))
}

/** The value of an `Authorization` header of HTTP Basic (RFC 7617). */
function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

/** An id without its prefix: templates write their own (`msg_{{id}}`). */
function shortId(ids: Ids): string {
  return ids.id('x').slice('x_'.length)
}

function uuid(ids: Ids): string {
  const hex = [0, 1, 2, 3].map(() => ids.number().toString(16).padStart(8, '0')).join('')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

function fake([name, ...args]: HelperArguments, ports: HelperPorts): JsonValue {
  if (typeof name !== 'string')
    throw new TemplateError("faker: the first argument is a name, such as 'person.fullName'")
  if (!ports.fakeData) throw new TemplateError(`faker '${name}': generated data is not available here`)
  return ports.fakeData.generate(
    name,
    args.map((arg) => arg ?? null),
    ports,
  )
}
