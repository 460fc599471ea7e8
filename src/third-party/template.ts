import { parse } from '@handlebars/parser'
import type { Account } from '../domain/account.ts'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import { type Instant, instant } from '../domain/instant.ts'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import type { Clock, Ids } from '../domain/ports.ts'
import { FakeData, fakeNameProblem } from './fake-data.ts'
import { Budget, DEEPEST_TEMPLATE, LONGEST_TEMPLATE, TemplateError } from './template-limits.ts'

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

const CACHE_LIMIT = 5_000
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

  /** Loads what the templates inside `source` need, once for each source. @throws TemplateError */
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

  /** `value` with every template in it evaluated. Keys are not templates. */
  render(value: JsonValue, scope: TemplateScope): JsonValue {
    const root = this.#root(scope)
    return this.#render(value, root)
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
    const rendered = Object.create(null) as JsonObject
    for (const [key, item] of Object.entries(value)) rendered[key] = this.#render(item, root)
    return rendered
  }

  #parse(text: string): Template {
    const known = this.#parsed.get(text)
    if (known) return known
    // Connectors can be replaced while the server runs; templates still in use are parsed again.
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
  return callOf(template, ['faker']) !== undefined
}

/** The first of these helpers that a template calls. */
function callOf(template: Template, helpers: readonly HelperName[]): HelperName | undefined {
  const inExpression = (expression: Expression): HelperName | undefined => {
    if (expression.kind !== 'call') return undefined
    if (helpers.includes(expression.helper)) return expression.helper
    return firstOf([...expression.args, ...expression.options.map(([, value]) => value)], inExpression)
  }
  return firstOf(template, (piece) => {
    if (piece.kind === 'text') return undefined
    if (piece.kind === 'value') return inExpression(piece.expression)
    return inExpression(piece.subject) ?? callOf(piece.then, helpers) ?? callOf(piece.otherwise, helpers)
  })
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
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
  let text = ''
  for (const piece of template) {
    const before = text.length
    if (piece.kind === 'text') text += piece.text
    else if (piece.kind === 'value') text += encode(textIn(evaluate(piece.expression, frame), frame))
    else text += blockText(piece, frame, encode)
    if (piece.kind !== 'block') frame.ports.budget.text(text.length - before)
  }
  return text
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

/** As in Handlebars: a missing value, false, 0, an empty text and an empty list are false. */
function isTrue(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** A parsed template: the part of Handlebars' syntax that never runs code. */
export type Template = readonly Piece[]
export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'value'; expression: Expression }
  | {
      kind: 'block'
      block: BlockName
      subject: Expression
      names: readonly string[]
      then: Template
      otherwise: Template
    }
export type Expression =
  | { kind: 'literal'; value: JsonValue }
  | { kind: 'path'; depth: number; data: boolean; parts: readonly string[] }
  | {
      kind: 'call'
      helper: HelperName
      args: readonly Expression[]
      options: readonly (readonly [string, Expression])[]
    }
export type BlockName = 'each' | 'if' | 'unless' | 'with'

/** Every block that a template may have. */
export const BLOCKS: Readonly<Record<BlockName, Described>> = {
  each: {
    example: '{{#each items as |item|}}…{{/each}}',
    gives:
      'its part for each item; inside, @index, @key, @first and @last tell where, and @root is the outermost value',
  },
  if: {
    example: "{{#if (eq item.kind 'x')}}…{{else}}…{{/if}}",
    gives: 'the first part where the value is true; a missing value, false, 0, an empty text and an empty list are not',
  },
  unless: { example: '{{#unless input.all}}…{{/unless}}', gives: 'its part where the value is not true' },
  with: {
    example: '{{#with request.body as |body|}}…{{/with}}',
    gives: 'its part with the value as the start of paths',
  },
}
const DATA: readonly string[] = ['index', 'key', 'first', 'last', 'root']

/** What the reference of templates says. */
interface Described {
  readonly example: string
  readonly gives: string
}

/** The names that a path may start with; null allows any. */
type Roots = readonly string[] | null

/** @throws TemplateError */
function parseTemplate(text: string, roots: Roots = null): Template {
  if (text.length > LONGEST_TEMPLATE) throw new TemplateError(`a template has at most ${LONGEST_TEMPLATE} characters`)
  const { body } = parseSyntax(text)
  checkDepth(body)
  return pieces(body, roots)
}

/** @throws TemplateError where blocks or calls nest too deeply */
function checkDepth(body: readonly Node[]): void {
  const rest = body.map((node) => ({ node, depth: 1 }))
  for (let at = rest.pop(); at; at = rest.pop()) {
    const { node, depth } = at
    if (depth > DEEPEST_TEMPLATE) throw tooDeep()
    const { path, params = [], hash, program, inverse } = node
    const values = hash?.pairs.map(({ value }) => value) ?? []
    const inside = [...(path ? [path] : []), ...params, ...values, ...(program?.body ?? []), ...(inverse?.body ?? [])]
    for (const each of inside) rest.push({ node: each, depth: depth + 1 })
  }
}

function tooDeep(): TemplateError {
  return new TemplateError(`a template nests at most ${DEEPEST_TEMPLATE} levels deep`)
}

/**
 * What is wrong with a template, in one sentence; undefined when nothing is. `roots` are the names that paths may start
 * with in this template (`input`, `account`, …); without them any name is allowed.
 */
export function checkTemplate(text: string, roots?: readonly string[]): string | undefined {
  if (!text.includes('{{')) return undefined
  try {
    const template = parseTemplate(text, roots ?? null)
    const changing = roots?.includes('credentials') === true ? callOf(template, NEW_EACH_TIME) : undefined
    return changing && `${changing} makes another value each time, and credentials have to stay the same`
  } catch (error) {
    if (error instanceof TemplateError) return error.message
    throw error
  }
}

/** The paths of a template that start at its variables: `input.to` as `['input', 'to']`; none of one that cannot be read. */
export function templatePaths(text: string): readonly (readonly string[])[] {
  if (!text.includes('{{') || checkTemplate(text) !== undefined) return []
  return pathsIn(parseTemplate(text))
}

function pathsIn(template: Template): (readonly string[])[] {
  return template.flatMap((piece) => {
    if (piece.kind === 'text') return []
    if (piece.kind === 'value') return pathsOfExpression(piece.expression)
    // Inside of `each` and `with`, paths start elsewhere.
    const inner = piece.block === 'if' || piece.block === 'unless' ? pathsIn(piece.then) : []
    return [...pathsOfExpression(piece.subject), ...inner, ...pathsIn(piece.otherwise)]
  })
}

function pathsOfExpression(expression: Expression): (readonly string[])[] {
  if (expression.kind === 'literal') return []
  if (expression.kind === 'path') return expression.depth === 0 && !expression.data ? [expression.parts] : []
  return [...expression.args, ...expression.options.map(([, value]) => value)].flatMap(pathsOfExpression)
}

/** Helpers whose value is another one each time. */
export const NEW_EACH_TIME: readonly HelperName[] = ['id', 'uuid', 'now', 'date', 'faker']

/** The part of the parser's nodes that is used; its own types leave expressions open. */
interface Node {
  readonly type: string
  readonly value?: unknown
  readonly original?: unknown
  readonly path?: Node
  readonly name?: Node
  readonly params?: readonly Node[]
  readonly hash?: { readonly pairs: readonly { readonly key: string; readonly value: Node }[] }
  readonly program?: { readonly body: readonly Node[]; readonly blockParams?: readonly string[] }
  readonly inverse?: { readonly body: readonly Node[] }
  readonly parts?: readonly (string | Node)[]
  readonly depth?: number
  readonly data?: boolean
  readonly this?: boolean
}

function parseSyntax(text: string): { body: readonly Node[] } {
  try {
    return parse(text) as { body: readonly Node[] }
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    const lines = error instanceof Error ? error.message.split('\n') : []
    const [first = 'it cannot be read', near = ''] = lines
    throw new TemplateError(`${first.replace(/:$/, '')}${near === '' ? '' : `, at ${near.trim()}`}`)
  }
}

function pieces(body: readonly Node[], roots: Roots): Template {
  return body.filter((node) => node.type !== 'CommentStatement').map((node) => piece(node, roots))
}

function piece(node: Node, roots: Roots): Piece {
  switch (node.type) {
    case 'ContentStatement':
      return { kind: 'text', text: String(node.value) }
    case 'MustacheStatement':
      return { kind: 'value', expression: invocation(node, roots) }
    case 'BlockStatement':
      return block(node, roots)
    default:
      throw new TemplateError('partials and decorators are not supported')
  }
}

function block(node: Node, roots: Roots): Piece {
  const name = String(node.path?.original)
  const [subject, ...others] = node.params ?? []
  if (!Object.hasOwn(BLOCKS, name)) {
    throw new TemplateError(`unknown block '#${name}'; allowed are #${Object.keys(BLOCKS).join(', #')}`)
  }
  if (!subject || others.length > 0) throw new TemplateError(`#${name} takes one argument`)
  const names = node.program?.blockParams ?? []
  const taken = names.find(isHelper)
  if (taken !== undefined) throw new TemplateError(`'${taken}' is a helper and cannot be a name in #${name}`)
  const inner = name === 'if' || name === 'unless' ? roots : null
  return {
    kind: 'block',
    block: name as BlockName,
    subject: expression(subject, roots),
    names,
    then: pieces(node.program?.body ?? [], inner),
    otherwise: pieces(node.inverse?.body ?? [], roots),
  }
}

function invocation(node: Node, roots: Roots): Expression {
  const head = node.path
  if (!head) throw new TemplateError('an expression without a name')
  const called = (node.params?.length ?? 0) > 0 || (node.hash?.pairs.length ?? 0) > 0
  return called || node.type === 'SubExpression' ? call(String(head.original), node, roots) : expression(head, roots)
}

function expression(node: Node, roots: Roots): Expression {
  switch (node.type) {
    case 'StringLiteral':
    case 'NumberLiteral':
    case 'BooleanLiteral':
      return { kind: 'literal', value: node.value as JsonValue }
    case 'NullLiteral':
    case 'UndefinedLiteral':
      return { kind: 'literal', value: null }
    case 'SubExpression':
      return invocation(node, roots)
    case 'PathExpression':
      return path(node, roots)
    default:
      throw new TemplateError(`${node.type} is not supported`)
  }
}

function path(node: Node, roots: Roots): Expression {
  const parts = (node.parts ?? []).map((part) => {
    if (typeof part === 'string') return part
    throw new TemplateError('a path cannot start with a call')
  })
  const [head] = parts
  const { depth = 0, data = false } = node
  const plain = depth === 0 && !data && node.this !== true
  if (plain && parts.length === 1 && head !== undefined && isHelper(head)) return call(head, node, roots)
  if (data && (head === undefined || !DATA.includes(head))) {
    throw new TemplateError(`unknown name '@${head ?? ''}'; allowed are @${DATA.join(', @')}`)
  }
  if (plain && roots && head !== undefined && !roots.includes(head)) {
    throw new TemplateError(
      `unknown name or helper '${head}'; allowed are ${[...roots, ...Object.keys(HELPERS)].join(', ')}`,
    )
  }
  return { kind: 'path', depth, data, parts }
}

function call(name: string, node: Node, roots: Roots): Expression {
  if (!isHelper(name)) {
    throw new TemplateError(`unknown helper '${name}'; allowed are ${Object.keys(HELPERS).join(', ')}`)
  }
  const args = (node.params ?? []).map((param) => expression(param, roots))
  const options = (node.hash?.pairs ?? []).map((pair) => [pair.key, expression(pair.value, roots)] as const)
  const [least, most] = HELPERS[name].arity
  if (args.length < least || args.length > most) {
    const more = most === Infinity ? ' or more' : ` to ${String(most)}`
    throw new TemplateError(`${name} takes ${String(least)}${least === most ? '' : more} arguments`)
  }
  if (name === 'faker') checkFakeName(args[0])
  else if (options.length > 0) throw new TemplateError(`${name} takes no named arguments`)
  if (name === 'now' || name === 'date') checkDistance(name, args[0])
  return { kind: 'call', helper: name, args, options }
}

function checkDistance(name: string, distance: Expression | undefined): void {
  if (distance?.kind !== 'literal' || parseDuration(asText(distance.value).replace(/^[+-]/, '')) !== undefined) return
  throw new TemplateError(`${name} takes a duration, with - in front for the past: ${DURATION_FORMS}`)
}

function checkFakeName(name: Expression | undefined): void {
  if (name?.kind !== 'literal' || typeof name.value !== 'string')
    throw new TemplateError("faker's first argument is a name in quotes")
  const problem = fakeNameProblem(name.value)
  if (problem !== undefined) throw new TemplateError(problem)
}

/** What helpers may use besides their arguments. */
export interface HelperPorts {
  readonly clock: Clock
  readonly ids: Ids
  /** Absent until a template that needs it was prepared. */
  readonly fakeData: FakeData | undefined
  readonly budget: Budget
}

export type HelperArguments = readonly (JsonValue | undefined)[]

interface Helper extends Described {
  /** The least and the greatest number of arguments. */
  readonly arity: readonly [number, number]
  run(args: HelperArguments, ports: HelperPorts): JsonValue | undefined
}

/** Every helper that a template may call; nothing else can be called. */
export const HELPERS = {
  id: {
    arity: [0, 0],
    example: 'msg_{{id}}',
    gives: 'a new id; its prefix is the text before it',
    run: (_args, { ids }) => shortId(ids),
  },
  uuid: { arity: [0, 0], example: '{{uuid}}', gives: 'a new UUID', run: (_args, { ids }) => uuid(ids) },
  now: {
    arity: [0, 1],
    example: "{{now '-2h'}}",
    gives: "the time of the environment's clock, or so long after it, or with - before it",
    run: ([distance], { clock }) => shifted(clock, distance),
  },
  date: {
    arity: [0, 1],
    example: "{{date '1d'}}T10:00:00Z",
    gives: 'the same as a date',
    run: ([distance], { clock }) => shifted(clock, distance).slice(0, 10),
  },
  json: {
    arity: [1, 1],
    example: '{{json request.body}}',
    gives: 'the value as JSON text',
    run: ([value], { budget }) => {
      budget.value(value)
      return JSON.stringify(value ?? null)
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
    run: (terms) => sum(terms),
  },
  basic: {
    arity: [2, 2],
    example: '{{basic credentials.username credentials.password}}',
    gives: 'the value of an HTTP Basic header; empty where both are empty',
    run: ([username, password]) =>
      isBlank(username) && isBlank(password) ? undefined : basic(asText(username), asText(password)),
  },
  faker: {
    arity: [1, Infinity],
    example: "{{faker 'person.fullName'}}",
    gives: 'generated data, the same with the same --id-seed; loaded when a template first asks for it',
    run: fake,
  },
} as const satisfies Record<string, Helper>
export type HelperName = keyof typeof HELPERS

function isHelper(name: string): name is HelperName {
  return Object.hasOwn(HELPERS, name)
}

function runHelper(name: HelperName, args: HelperArguments, ports: HelperPorts): JsonValue | undefined {
  const helper: Helper = HELPERS[name]
  return helper.run(args, ports)
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
  const text = asText(distance)
  const milliseconds = parseDuration(text.replace(/^[+-]/, '') || 0)
  if (milliseconds === undefined) throw new Error(`${JSON.stringify(text)} is no duration; it may be ${DURATION_FORMS}`)
  return instant(clock.now() + (text.startsWith('-') ? -milliseconds : milliseconds))
}

/** The value of an `Authorization` header of HTTP Basic (RFC 7617). */
function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** An id without its prefix: templates write their own (`msg_{{id}}`). */
function shortId(ids: Ids): string {
  const id = ids.id('x')
  return id.slice(id.lastIndexOf('_') + 1)
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
