import { parse } from '@handlebars/parser'
import type { JsonValue } from '../domain/json.ts'
import { fakeNameProblem } from './fake-data.ts'
import { HELPERS, type HelperName, isHelper } from './template-helpers.ts'

/** A template as our interpreter walks it: Handlebars' syntax, cut down to what never runs code. */
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
const BLOCKS: readonly string[] = ['each', 'if', 'unless', 'with'] satisfies BlockName[]
const DATA: readonly string[] = ['index', 'key', 'first', 'last', 'root']

/** A template that cannot be read: its syntax, a helper that does not exist, or something that is not allowed. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** What the names at the start of a path may be, and which of them blocks have bound; null when anything goes. */
type Roots = readonly string[] | null

/** Reads a template. @throws TemplateError */
export function parseTemplate(text: string, roots: Roots = null): Template {
  return pieces(parseSyntax(text).body, roots)
}

/**
 * What is wrong with a template, in one sentence; undefined when nothing is. `roots` are the names that paths may start
 * with where the template stands (`input`, `account`, …); without them any name is taken.
 */
export function checkTemplate(text: string, roots?: readonly string[]): string | undefined {
  if (!text.includes('{{')) return undefined
  try {
    parseTemplate(text, roots ?? null)
    return undefined
  } catch (error) {
    if (error instanceof TemplateError) return error.message
    throw error
  }
}

/** The part of the parser's nodes that is looked at; its own types leave expressions open. */
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
  if (!BLOCKS.includes(name)) throw new TemplateError(`unknown block '#${name}'; allowed are #${BLOCKS.join(', #')}`)
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
    throw new TemplateError(`${name} takes ${least === most ? String(least) : `${String(least)} or more`} arguments`)
  }
  if (name === 'faker') checkFakeName(args[0])
  else if (options.length > 0) throw new TemplateError(`${name} takes no named arguments`)
  return { kind: 'call', helper: name, args, options }
}

function checkFakeName(name: Expression | undefined): void {
  if (name?.kind !== 'literal' || typeof name.value !== 'string')
    throw new TemplateError("faker's first argument is a name in quotes")
  const problem = fakeNameProblem(name.value)
  if (problem !== undefined) throw new TemplateError(problem)
}
