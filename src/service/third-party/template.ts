import { parse } from '@handlebars/parser'
import { type Account, TEMPLATE_FIELDS } from '../../model/domain/generated/tables.ts'
import { plainText } from '../../model/domain/collection.ts'
import { DURATION_FORMS, parseDuration } from '../../model/domain/duration.ts'
import { type Instant, instant } from '../../model/domain/instant.ts'
import { isBlank, isJsonObject, type JsonObject, jsonText, type JsonValue, setOwn } from '../../model/domain/json.ts'
import type { Clock, Ids } from '../../model/domain/ports.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { quote } from '../../model/domain/text.ts'
import { FakeData, fakeNameProblem } from './fake-data.ts'
import { InexactNumber, TemplateError } from './template-error.ts'

// Handlebars templates, evaluated without ever running code.

/** Characters of a template. */
export const MAX_TEMPLATE = 65_536
/** Blocks in blocks, and calls in calls. */
export const MAX_TEMPLATE_DEPTH = 32

/** Expressions, turns of a loop, and random numbers of generated data, while a value is rendered. */
export const MAX_STEPS = 100_000
/** Characters that the templates of a value make. */
export const MAX_TEXT = 4 * 1024 * 1024

/** What a template can see: the names that its paths start with, and the environment's time and ids. */
export interface TemplateScope {
  readonly values: JsonObject
  readonly clock: Clock
  readonly ids: Ids
}

/** What the reference of templates says. */
interface Described {
  readonly example: string
  readonly gives: string
}

type HelperArguments = readonly (JsonValue | undefined)[]

/** What helpers may use besides their arguments. */
interface HelperPorts {
  readonly clock: Clock
  readonly ids: Ids
  /** Absent until a template that needs it was prepared. */
  readonly fakeData: FakeData | undefined
  readonly budget: Budget
}

interface Helper extends Described {
  /** The least and the greatest number of arguments. */
  readonly arity: readonly [least: number, most: number]
  /** Whether its value is another one each time. */
  readonly changes?: true
  /** Whether it takes named arguments, which `run` gets as its last argument. */
  readonly named?: true
  /** What is wrong with its first argument, which is undefined where it is no literal. */
  check?(first: JsonValue | undefined): string | undefined
  run(args: HelperArguments, ports: HelperPorts): JsonValue | undefined
}

/** Every helper that a template may call; nothing else can be called. */
export const HELPERS: ReadonlyMap<string, Helper> = new Map(
  Object.entries<Helper>({
    id: {
      arity: [0, 0],
      example: 'msg_{{id}}',
      gives: 'a new id; its prefix is the text before it',
      changes: true,
      run: (_args, { ids }) => ids.id('x').slice('x_'.length),
    },
    uuid: {
      arity: [0, 0],
      example: '{{uuid}}',
      gives: 'a new UUID',
      changes: true,
      run: (_args, { ids }) => ids.uuid(),
    },
    now: {
      arity: [0, 1],
      example: "{{now '-2h'}}",
      gives: "the time of the environment's clock, or so long after it, or with - before it",
      changes: true,
      check: (distance) => distanceProblem('now', distance),
      run: ([distance], { clock }) => shiftedTime(clock, distance),
    },
    date: {
      arity: [0, 1],
      example: "{{date '1d'}}T10:00:00Z",
      gives: 'the same as a date',
      changes: true,
      check: (distance) => distanceProblem('date', distance),
      run: ([distance], { clock }) => shiftedTime(clock, distance).slice(0, 10),
    },
    json: {
      arity: [1, 1],
      example: '{{json request.body}}',
      gives: 'the value as JSON text',
      run: ([value], { budget }) => {
        budget.value(value)
        return jsonText(value ?? null)
      },
    },
    default: {
      arity: [2, 2],
      example: "{{default input.folder 'inbox'}}",
      gives: 'the first value, or the second one where the first is missing or empty',
      run: ([value, fallback]) => (isBlank(value) ? fallback : value),
    },
    eq: {
      arity: [2, 2],
      example: "{{eq item.kind 'x'}}",
      gives: 'whether two values are the same',
      run: ([a, b]) => (a ?? null) === (b ?? null),
    },
    sum: {
      arity: [2, Infinity],
      example: '{{sum item.stock request.body.change}}',
      gives: 'the sum; what is no number counts as 0',
      run: roundedSum,
    },
    without: {
      arity: [2, Infinity],
      example: "{{without request.body 'labels'}}",
      gives: 'an object without the fields of these names, or of these dotted paths, in each item of a list on the way',
      run: ([object, ...names]) =>
        withoutFields(
          object,
          names.filter((name) => typeof name === 'string'),
        ),
    },
    basic: {
      arity: [2, 2],
      example: '{{basic credentials.username credentials.password}}',
      gives: 'the value of an HTTP Basic header; empty where both are empty',
      run: ([username, password]) =>
        isBlank(username) && isBlank(password)
          ? undefined
          : basicAuthorization(plainText(username), plainText(password)),
    },
    faker: {
      arity: [1, Infinity],
      example: "{{faker 'person.fullName'}}",
      gives: 'generated data, the same with the same --id-seed; loaded with the first call of a connector that uses it',
      changes: true,
      named: true,
      check: (name) =>
        typeof name === 'string' ? fakeNameProblem(name) : "faker's first argument is a name in quotes",
      run: fakeValue,
    },
  }),
)

function withoutFields(value: JsonValue | undefined, paths: readonly string[]): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, paths) ?? null)
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).filter(([name]) => !paths.includes(name))
  return Object.fromEntries(
    fields.map(([name, each]) => {
      const inner = paths.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1))
      return [name, inner.length > 0 ? (withoutFields(each, inner) ?? null) : each]
    }),
  )
}

/** Rounded to six decimals, so that 0.1 and 0.2 are 0.3; what is no number counts as 0. */
function roundedSum(terms: HelperArguments): number {
  const inexact = terms.find((term) => typeof term === 'bigint')
  if (inexact !== undefined)
    throw new InexactNumber(`sum takes numbers that a double holds; found ${quote(String(inexact), 80)}`)
  const numbers = terms.map((term) => (isBlank(term) || typeof term === 'object' ? 0 : Number(term)))
  const total = numbers.reduce((before, number) => before + (Number.isFinite(number) ? number : 0), 0)
  return Number(total.toFixed(6))
}

/** The clock's time so far away: `-2h` is two hours ago, `1d` tomorrow. */
function shiftedTime(clock: Clock, distance: JsonValue | undefined): Instant {
  if (distance === undefined) return clock.instant()
  const text = plainText(distance)
  const milliseconds = parseDuration(text.replace(/^[+-]/, '') || 0)
  if (milliseconds === undefined)
    throw new TemplateError(`${quote(text, 80)} is no duration; it may be ${DURATION_FORMS}`)
  return instant(clock.now() + (text.startsWith('-') ? -milliseconds : milliseconds))
}

/** The value of an `Authorization` header of HTTP Basic (RFC 7617). */
function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

function distanceProblem(helper: string, distance: JsonValue | undefined): string | undefined {
  if (distance === undefined || parseDuration(plainText(distance).replace(/^[+-]/, '')) !== undefined) return undefined
  return `${helper} takes a duration, with - in front for the past: ${DURATION_FORMS}`
}

function fakeValue([name, ...args]: HelperArguments, ports: HelperPorts): JsonValue {
  if (typeof name !== 'string')
    throw new TemplateError("faker: the first argument is a name, such as 'person.fullName'")
  if (!ports.fakeData) throw new TemplateError(`faker '${name}': generated data is not available here`)
  return ports.fakeData.generate(
    name,
    args.map((arg) => arg ?? null),
    ports,
  )
}

interface BlockParts {
  /** `bound`: the value that paths start from, and what else `as |a b|` names; without it paths start as outside. */
  readonly then: (bound?: HelperArguments, data?: JsonObject) => string
  readonly otherwise: () => string
  readonly budget: Budget
}

interface Block extends Described {
  /** Whether paths inside start where they start outside. */
  readonly keepsPaths: boolean
  run(subject: JsonValue | undefined, parts: BlockParts): string
}

export const BLOCKS: ReadonlyMap<string, Block> = new Map(
  Object.entries<Block>({
    each: {
      example: '{{#each items as |item|}}…{{/each}}',
      gives:
        'its part for each item; inside, @index, @key, @first and @last tell where, and @root is the outermost value',
      keepsPaths: false,
      run: (subject, { then, otherwise, budget }) => {
        const entries = typeof subject === 'object' && subject !== null ? Object.entries(subject) : []
        budget.step(entries.length)
        if (entries.length === 0) return otherwise()
        const last = entries.length - 1
        return entries
          .map(([key, item], index) =>
            then([item, Array.isArray(subject) ? index : key], {
              index,
              key,
              first: index === 0,
              last: index === last,
            }),
          )
          .join('')
      },
    },
    if: {
      example: "{{#if (eq item.kind 'x')}}…{{else}}…{{/if}}",
      gives:
        'the first part where the value is true; a missing value, false, 0, an empty text and an empty list are not',
      keepsPaths: true,
      run: (subject, { then, otherwise }) => (isTrue(subject) ? then() : otherwise()),
    },
    unless: {
      example: '{{#unless input.all}}…{{/unless}}',
      gives: 'its part where the value is not true',
      keepsPaths: true,
      run: (subject, { then, otherwise }) => (isTrue(subject) ? otherwise() : then()),
    },
    with: {
      example: '{{#with request.body as |body|}}…{{/with}}',
      gives: 'its part with the value as the start of paths',
      keepsPaths: false,
      run: (subject, { then, otherwise }) => (isTrue(subject) ? then([subject]) : otherwise()),
    },
  }),
)

/** As in Handlebars: a missing value, false, 0, an empty text and an empty list are false. */
function isTrue(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** A template as functions, one for each of its pieces. Only the part of Handlebars' syntax is read that never runs code. */
type Template = readonly Piece[]
interface Piece {
  text(frame: Frame, encode: Encode): string
  /** Of a piece that is one expression. */
  readonly value?: Evaluate
}
type Evaluate = (frame: Frame) => JsonValue | undefined
type Encode = (value: string) => string

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

/** What checks ask of a template. */
interface Uses {
  /** Its paths that start at its variables. */
  readonly paths: (readonly string[])[]
  readonly helpers: string[]
}

interface Place {
  /** The names that a path may start with; null allows any. */
  readonly roots: readonly string[] | null
  /** Whether paths start at the template's variables here. */
  readonly isOuter: boolean
  readonly depth: number
  readonly uses: Uses
}

const DATA: readonly string[] = ['index', 'key', 'first', 'last', 'root']

/** The part of the parser's nodes that is used; its own types leave expressions open. */
interface Node {
  readonly type: string
  readonly value?: unknown
  readonly original?: unknown
  readonly path?: Node
  readonly params?: readonly Node[]
  readonly hash?: { readonly pairs: readonly { readonly key: string; readonly value: Node }[] }
  readonly program?: { readonly body: readonly Node[]; readonly blockParams?: readonly string[] }
  readonly inverse?: { readonly body: readonly Node[] }
  readonly parts?: readonly (string | Node)[]
  readonly depth?: number
  readonly data?: boolean
  readonly this?: boolean
}

/** @throws TemplateError */
function parseTemplate(text: string, roots: Place['roots'] = null): { template: Template; uses: Uses } {
  if (text.length > MAX_TEMPLATE) throw new TemplateError(`a template has at most ${MAX_TEMPLATE} characters`)
  const uses: Uses = { paths: [], helpers: [] }
  return { template: templatePieces(parseSyntax(text), { roots, isOuter: true, depth: 0, uses }), uses }
}

function parseSyntax(text: string): readonly Node[] {
  try {
    return (parse(text) as { body: readonly Node[] }).body
  } catch (error) {
    if (error instanceof RangeError) throw templateTooDeep()
    const lines = error instanceof Error ? error.message.split('\n') : []
    const [first = 'it cannot be read', near = ''] = lines
    throw new TemplateError(`${first.replace(/:$/, '')}${near === '' ? '' : `, at ${near.trim()}`}`)
  }
}

function templateTooDeep(): TemplateError {
  return new TemplateError(`a template nests at most ${MAX_TEMPLATE_DEPTH} levels deep`)
}

/** @throws TemplateError where blocks or calls nest too deeply */
function nestedPlace(place: Place): Place {
  if (place.depth >= MAX_TEMPLATE_DEPTH) throw templateTooDeep()
  return { ...place, depth: place.depth + 1 }
}

function templatePieces(body: readonly Node[] = [], place: Place): Template {
  return body.filter((node) => node.type !== 'CommentStatement').map((node) => pieceOf(node, place))
}

function pieceOf(node: Node, place: Place): Piece {
  if (node.type === 'ContentStatement') {
    const text = String(node.value)
    return { text: (frame) => countText(text, frame) }
  }
  if (node.type === 'BlockStatement') return blockOf(node, place)
  if (node.type !== 'MustacheStatement') throw new TemplateError('partials and decorators are not supported')
  const value = compileCall(node, place)
  return { value, text: (frame, encode) => countText(encode(textIn(value(frame), frame)), frame) }
}

function countText(text: string, { ports: { budget } }: Frame): string {
  budget.text(text.length)
  return text
}

/** An object is counted before it becomes a text. */
function textIn(value: JsonValue | undefined, { ports: { budget } }: Frame): string {
  if (typeof value === 'object') budget.value(value)
  return plainText(value)
}

function blockOf(node: Node, place: Place): Piece {
  const name = String(node.path?.original)
  const [subject, ...others] = node.params ?? []
  const block = BLOCKS.get(name)
  if (!block) {
    const blockNames = [...BLOCKS.keys()].map((each) => `#${each}`)
    throw new TemplateError(
      `unknown block '#${name}'${didYouMean(`#${name}`, blockNames)}; allowed are ${blockNames.join(', ')}`,
    )
  }
  if (!subject || others.length > 0) throw new TemplateError(`#${name} takes one argument`)
  const names = node.program?.blockParams ?? []
  const taken = names.find((each) => HELPERS.has(each))
  if (taken !== undefined) throw new TemplateError(`'${taken}' is a helper and cannot be a name in #${name}`)
  const below = nestedPlace(place)
  const value = compileExpression(subject, below)
  const first = templatePieces(node.program?.body, block.keepsPaths ? below : { ...below, roots: null, isOuter: false })
  const second = templatePieces(node.inverse?.body, below)
  return {
    text: (frame, encode) =>
      block.run(value(frame), {
        then: (bound, data) => renderedText(first, bound ? innerFrame(frame, names, bound, data) : frame, encode),
        otherwise: () => renderedText(second, frame, encode),
        budget: frame.ports.budget,
      }),
  }
}

function innerFrame(frame: Frame, parameterNames: readonly string[], bound: HelperArguments, data = frame.data): Frame {
  const names = Object.assign(Object.create(null) as JsonObject, frame.names)
  parameterNames.forEach((name, at) => {
    names[name] = bound[at] ?? null
  })
  return { context: bound[0], parent: frame, data, names, ports: frame.ports }
}

function compileCall(node: Node, place: Place): Evaluate {
  const head = node.path
  if (!head) throw new TemplateError('an expression without a name')
  const called = (node.params?.length ?? 0) > 0 || (node.hash?.pairs.length ?? 0) > 0
  return called || node.type === 'SubExpression'
    ? callHelper(String(head.original), node, nestedPlace(place))
    : compileExpression(head, nestedPlace(place))
}

function compileExpression(node: Node, place: Place): Evaluate {
  switch (node.type) {
    case 'StringLiteral':
    case 'NumberLiteral':
    case 'BooleanLiteral':
      return countingSteps(() => node.value as JsonValue)
    case 'NullLiteral':
    case 'UndefinedLiteral':
      return countingSteps(() => null)
    case 'SubExpression':
      return compileCall(node, place)
    case 'PathExpression':
      return compilePath(node, place)
    default:
      throw new TemplateError(`${node.type} is not supported`)
  }
}

/** Each expression is a step of the budget. */
function countingSteps(evaluate: Evaluate): Evaluate {
  return (frame) => {
    frame.ports.budget.step()
    return evaluate(frame)
  }
}

function compilePath(node: Node, place: Place): Evaluate {
  const { roots, isOuter, uses } = place
  const parts = (node.parts ?? []).map((part) => {
    if (typeof part === 'string') return part
    throw new TemplateError('a path cannot start with a call')
  })
  const [head] = parts
  const { depth = 0, data = false } = node
  const plain = depth === 0 && !data && node.this !== true
  if (plain && parts.length === 1 && head !== undefined && HELPERS.has(head)) return callHelper(head, node, place)
  if (data && (head === undefined || !DATA.includes(head))) {
    throw new TemplateError(`unknown name '@${head ?? ''}'; allowed are @${DATA.join(', @')}`)
  }
  if (plain && roots && head !== undefined && !roots.includes(head)) {
    const names = [...roots, ...HELPERS.keys()]
    throw new TemplateError(
      `unknown name or helper '${head}'${didYouMean(head, names)}; allowed are ${names.join(', ')}`,
    )
  }
  if (isOuter && depth === 0 && !data) uses.paths.push(parts)
  return countingSteps((frame) => valueAtParts(parts, data ? outermostContext(frame) : pathStart(frame, depth, head)))
}

function outermostContext(frame: Frame): JsonObject {
  let outermost = frame
  while (outermost.parent) outermost = outermost.parent
  return { ...frame.data, root: outermost.context ?? null }
}

function pathStart(frame: Frame, depth: number, head: string | undefined): JsonValue | undefined {
  if (depth === 0) return head !== undefined && Object.hasOwn(frame.names, head) ? frame.names : frame.context
  let at: Frame | undefined = frame
  for (let steps = depth; steps > 0; steps -= 1) at = at?.parent
  return at?.context
}

/** Own properties only: a path can never reach a prototype or a function. */
function valueAtParts(parts: readonly string[], from: JsonValue | undefined): JsonValue | undefined {
  let value = from
  for (const part of parts) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as JsonObject)[part]
  }
  return value
}

function callHelper(name: string, node: Node, place: Place): Evaluate {
  const helper = HELPERS.get(name)
  if (!helper) {
    const names = [...HELPERS.keys()]
    throw new TemplateError(`unknown helper '${name}'${didYouMean(name, names)}; allowed are ${names.join(', ')}`)
  }
  place.uses.helpers.push(name)
  const { params = [] } = node
  const [first] = params
  const args = params.map((param) => compileExpression(param, place))
  const options = (node.hash?.pairs ?? []).map(({ key, value }) => [key, compileExpression(value, place)] as const)
  const [least, most] = helper.arity
  if (args.length < least || args.length > most) {
    const more = most === Infinity ? ' or more' : ` to ${String(most)}`
    throw new TemplateError(`${name} takes ${String(least)}${least === most ? '' : more} arguments`)
  }
  if (options.length > 0 && !helper.named) throw new TemplateError(`${name} takes no named arguments`)
  const problem = helper.check?.(first?.type.endsWith('Literal') ? ((first.value ?? null) as JsonValue) : undefined)
  if (problem !== undefined) throw new TemplateError(problem)
  return countingSteps((frame) => {
    const values = args.map((arg) => arg(frame))
    if (options.length > 0) {
      values.push(Object.fromEntries(options.map(([key, value]) => [key, value(frame) ?? null])))
    }
    return helper.run(values, frame.ports)
  })
}

/** One sentence; undefined when nothing is wrong. `roots` are the names that paths may start with; any without them. */
export function checkTemplate(text: string, roots?: readonly string[]): string | undefined {
  const uses = usesOf(text, roots)
  if (typeof uses === 'string') return uses
  const changing = roots?.includes('credentials') && uses.helpers.find((name) => HELPERS.get(name)?.changes)
  return changing ? `${changing} makes another value each time, and credentials have to stay the same` : undefined
}

/** The paths of a template that start at its variables: `input.to` as `['input', 'to']`; none of one that cannot be read. */
export function templatePaths(text: string): readonly (readonly string[])[] {
  const uses = usesOf(text)
  return typeof uses === 'string' ? [] : uses.paths
}

/** What a template uses, or why it cannot be read. */
function usesOf(text: string, roots?: readonly string[]): Uses | string {
  if (!text.includes('{{')) return { paths: [], helpers: [] }
  try {
    return parseTemplate(text, roots ?? null).uses
  } catch (error) {
    if (error instanceof TemplateError) return error.message
    throw error
  }
}

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
    const operands: (JsonValue | undefined)[] = [value]
    for (let at = operands.pop(); at !== undefined; at = operands.pop()) {
      this.text(typeof at === 'string' ? at.length : 1)
      if (typeof at !== 'object' || at === null) continue
      if (Array.isArray(at)) for (const item of at) operands.push(item)
      else {
        for (const name of Object.keys(at)) {
          this.text(name.length)
          operands.push(at[name])
        }
      }
    }
  }
}

const NO_DATA: JsonObject = Object.freeze(Object.create(null) as JsonObject)

function renderedText(template: Template, frame: Frame, encode: Encode): string {
  return template.map((piece) => piece.text(frame, encode)).join('')
}

function renderWhole(template: Template, frame: Frame): JsonValue {
  const [only, ...others] = template
  if (!only?.value || others.length > 0) return renderedText(template, frame, (text) => text)
  const value = only.value(frame) ?? null
  frame.ports.budget.value(value)
  return value
}

/** Parsed templates that a server keeps. */
const MAX_CACHED = 5_000

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
    return this.#renderJson(value, this.#rootFrame(scope))
  }

  /** A text in which every value is encoded, and the text around it is not. */
  renderText(text: string, scope: TemplateScope, encode: (value: string) => string): string {
    if (!text.includes('{{')) return text
    return renderedText(this.#parsedTemplate(text), this.#rootFrame(scope), encode)
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

  #rootFrame(scope: TemplateScope): Frame {
    const ports = { clock: scope.clock, ids: scope.ids, fakeData: this.#fakeData, budget: new Budget() }
    return { context: scope.values, parent: undefined, data: NO_DATA, names: NO_DATA, ports }
  }

  #renderJson(value: JsonValue, root: Frame): JsonValue {
    if (typeof value === 'string') return value.includes('{{') ? renderWhole(this.#parsedTemplate(value), root) : value
    if (Array.isArray(value)) return value.map((item) => this.#renderJson(item, root))
    if (typeof value !== 'object' || value === null) return value
    const rendered: JsonObject = {}
    for (const key of Object.keys(value)) setOwn(rendered, key, this.#renderJson(value[key] ?? null, root))
    return rendered
  }

  #parsedTemplate(text: string): Template {
    const cached = this.#parsed.get(text)
    if (cached) return cached
    // Connectors can be replaced while the server runs; templates still in use are parsed again.
    if (this.#parsed.size >= MAX_CACHED) this.#parsed.clear()
    const { template } = parseTemplate(text)
    this.#parsed.set(text, template)
    return template
  }
}

function mayUseFakeData(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('{{') && value.includes('faker')
  return typeof value === 'object' && value !== null && Object.values(value).some(mayUseFakeData)
}

/** What templates and matches see of an account. */
export function accountInTemplates(account: Account): JsonObject {
  return Object.fromEntries(TEMPLATE_FIELDS.map((name) => [name, account[name]]))
}
