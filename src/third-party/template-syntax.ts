import { parse } from '@handlebars/parser'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { fakeNameProblem } from './fake-data.ts'
import { TemplateError } from './template-error.ts'

/** Characters of a template. */
export const MAX_TEMPLATE = 65_536
/** Blocks in blocks, and calls in calls. */
export const MAX_TEMPLATE_DEPTH = 32

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
type Literal = string | number | boolean | null
export type Expression =
  | { kind: 'literal'; value: Literal }
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
export function parseTemplate(text: string, roots: Roots = null): Template {
  if (text.length > MAX_TEMPLATE) throw new TemplateError(`a template has at most ${MAX_TEMPLATE} characters`)
  const { body } = parseSyntax(text)
  checkDepth(body)
  return pieces(body, roots)
}

/** @throws TemplateError where blocks or calls nest too deeply */
function checkDepth(body: readonly Node[]): void {
  const rest = body.map((node) => ({ node, depth: 1 }))
  for (let at = rest.pop(); at; at = rest.pop()) {
    const { node, depth } = at
    if (depth > MAX_TEMPLATE_DEPTH) throw tooDeep()
    const { path, params = [], hash, program, inverse } = node
    const values = hash?.pairs.map(({ value }) => value) ?? []
    const inside = [...(path ? [path] : []), ...params, ...values, ...(program?.body ?? []), ...(inverse?.body ?? [])]
    for (const each of inside) rest.push({ node: each, depth: depth + 1 })
  }
}

function tooDeep(): TemplateError {
  return new TemplateError(`a template nests at most ${MAX_TEMPLATE_DEPTH} levels deep`)
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

interface Helper extends Described {
  /** The least and the greatest number of arguments. */
  readonly arity: readonly [number, number]
}

/** Every helper that a template may call; nothing else can be called. */
export const HELPERS = {
  id: {
    arity: [0, 0],
    example: 'msg_{{id}}',
    gives: 'a new id; its prefix is the text before it',
  },
  uuid: { arity: [0, 0], example: '{{uuid}}', gives: 'a new UUID' },
  now: {
    arity: [0, 1],
    example: "{{now '-2h'}}",
    gives: "the time of the environment's clock, or so long after it, or with - before it",
  },
  date: {
    arity: [0, 1],
    example: "{{date '1d'}}T10:00:00Z",
    gives: 'the same as a date',
  },
  json: {
    arity: [1, 1],
    example: '{{json request.body}}',
    gives: 'the value as JSON text',
  },
  default: {
    arity: [2, 2],
    example: "{{default input.folder 'inbox'}}",
    gives: 'the first value, or the second one where the first is missing or empty',
  },
  eq: {
    arity: [2, 2],
    example: "{{eq item.kind 'x'}}",
    gives: 'whether two values are the same',
  },
  sum: {
    arity: [2, Infinity],
    example: '{{sum item.stock request.body.change}}',
    gives: 'the sum; what is no number counts as 0',
  },
  without: {
    arity: [2, Infinity],
    example: "{{without request.body 'labels'}}",
    gives: 'an object without the fields of these names',
  },
  basic: {
    arity: [2, 2],
    example: '{{basic credentials.username credentials.password}}',
    gives: 'the value of an HTTP Basic header; empty where both are empty',
  },
  faker: {
    arity: [1, Infinity],
    example: "{{faker 'person.fullName'}}",
    gives: 'generated data, the same with the same --id-seed; loaded with the first call of a connector that uses it',
  },
} as const satisfies Record<string, Helper>
export type HelperName = keyof typeof HELPERS

function isHelper(name: string): name is HelperName {
  return Object.hasOwn(HELPERS, name)
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
    const known = Object.keys(BLOCKS).map((each) => `#${each}`)
    throw new TemplateError(`unknown block '#${name}'${didYouMean(`#${name}`, known)}; allowed are ${known.join(', ')}`)
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
      return { kind: 'literal', value: node.value as Literal }
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
    const known = [...roots, ...Object.keys(HELPERS)]
    throw new TemplateError(
      `unknown name or helper '${head}'${didYouMean(head, known)}; allowed are ${known.join(', ')}`,
    )
  }
  return { kind: 'path', depth, data, parts }
}

function call(name: string, node: Node, roots: Roots): Expression {
  if (!isHelper(name)) {
    const known = Object.keys(HELPERS)
    throw new TemplateError(`unknown helper '${name}'${didYouMean(name, known)}; allowed are ${known.join(', ')}`)
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
  if (distance?.kind !== 'literal' || parseDuration(String(distance.value ?? '').replace(/^[+-]/, '')) !== undefined)
    return
  throw new TemplateError(`${name} takes a duration, with - in front for the past: ${DURATION_FORMS}`)
}

function checkFakeName(name: Expression | undefined): void {
  if (name?.kind !== 'literal' || typeof name.value !== 'string')
    throw new TemplateError("faker's first argument is a name in quotes")
  const problem = fakeNameProblem(name.value)
  if (problem !== undefined) throw new TemplateError(problem)
}
