import {
  type DescMessage,
  type DescMethod,
  type DescService,
  type FileRegistry,
  getOption,
  hasOption,
} from '@bufbuild/protobuf'
import { type Route, ROUTES } from '../../model/contract/route.ts'
import type { ExtensionRoute } from '../http/extensions.ts'
import { fieldOf } from './descriptors.ts'
import { http } from './generated/google/api/annotations_pb.ts'
import { Health } from './generated/grpc/health/v1/health_pb.ts'
import type { HttpRule } from './generated/google/api/http_pb.ts'

/** One form of a rule of `google.api.http`: the method itself, or one of its `additional_bindings`. */
export interface Binding {
  readonly verb: string
  readonly template: string
  readonly parts: readonly TemplatePart[]
  /** `*` for the whole message, the name of a field, or empty for none. */
  readonly body: string
  /** The field of the answer that the body becomes; empty for the whole message. */
  readonly responseBody: string
  /** The routes that the template can lead to. */
  readonly routes: readonly ServedRoute[]
}

/** A piece of a path template: text as it is, or a field with the segments that its value may have. */
export type TemplatePart =
  { readonly text: string } | { readonly field: readonly string[]; readonly segments: readonly string[] }

/** A route of an operation, or of an extension. */
export type ServedRoute = Route | ExtensionRoute

export interface RpcMethod {
  readonly desc: DescMethod
  /** `acme.tools.v1.Tools/ExecuteTool` */
  readonly name: string
  /** Those that lead to a served operation; empty for a method that is not served. */
  readonly bindings: readonly Binding[]
  readonly reason: string
}

/** Every method of every service, with the bindings that lead to the given routes. */
export function methodsOf(registry: FileRegistry, routes: readonly ServedRoute[]): RpcMethod[] {
  // The mock has a health service of its own.
  const isService = (desc: { kind: string; typeName?: string }): desc is DescService =>
    desc.kind === 'service' && desc.typeName !== Health.typeName
  const services = [...registry].filter(isService)
  // The token endpoint takes a form, which no rule can describe.
  const bound = routes.filter(({ bearer }) => bearer)
  return services.flatMap(({ methods }) => methods.map((desc) => methodOf(desc, bound)))
}

function methodOf(desc: DescMethod, bound: readonly ServedRoute[]): RpcMethod {
  const name = `${desc.parent.typeName}/${desc.name}`
  const refused = (reason: string): RpcMethod => ({ desc, name, bindings: [], reason })
  if (desc.methodKind !== 'unary') return refused('it is a streaming method')
  if (!hasOption(desc, http)) return refused('it has no google.api.http rule')
  const rule = getOption(desc, http)
  const rules = [rule, ...rule.additionalBindings].flatMap(({ pattern, ...httpRule }) => {
    const read = verbAndTemplate(pattern)
    if (!read) return []
    const { body, responseBody } = httpRule
    return [read, ...rulesOfOneof(desc.input, read, bound)].map((each) => ({ ...each, body, responseBody }))
  })
  const bindings = rules.flatMap(({ verb, template, body, responseBody }): Binding[] => {
    const parts = templateParts(template)
    const routes = bound.filter(({ method, path }) => method === verb && leadsTo(parts, path))
    return routes.length === 0 ? [] : [{ verb, template, parts, body, responseBody, routes }]
  })
  if (bindings.length > 0) return { desc, name, bindings, reason: '' }
  const asked = rules.map(({ verb, template }) => `${verb} ${template}`).join(', ')
  const isOfMcp = rules.some(({ verb, template }) =>
    ROUTES.some(({ mcp, method, path }) => mcp && method === verb && leadsTo(templateParts(template), path)),
  )
  const reason = isOfMcp ? `the mock serves ${asked} with --mcp only` : `the mock does not serve ${asked}`
  return refused(asked === '' ? 'its google.api.http rule names no path' : reason)
}

function verbAndTemplate(pattern: HttpRule['pattern']): { verb: string; template: string } | undefined {
  if (pattern.case === undefined) return undefined
  if (pattern.case === 'custom') return { verb: pattern.value.kind, template: pattern.value.path }
  return { verb: pattern.case.toUpperCase(), template: pattern.value }
}

/** Another member of the oneof that the last field of a path is in: the route that ends with that member serves it. */
function rulesOfOneof(
  input: DescMessage,
  { verb, template }: { readonly verb: string; readonly template: string },
  bound: readonly ServedRoute[],
): { verb: string; template: string }[] {
  const [, base = '', name = ''] = /^([^{}]*)\/\{(\w+)\}$/.exec(template) ?? []
  const members = fieldOf(input, name)?.oneof?.fields.filter((each) => each.name !== name) ?? []
  const paths = bound.flatMap(({ method, path }) => (method === verb && path.startsWith(base) ? [path] : []))
  return members.flatMap((member) =>
    paths
      .filter((path) => path.endsWith(`/{${member.name}}`) && path.indexOf('{') === path.lastIndexOf('{'))
      .map((path) => ({ verb, template: path })),
  )
}

const VARIABLE = /\{([\w.]+)(?:=([^{}]*))?\}/g

/** `/v1/{name=shelves/*}:verb` in its parts. A field without segments has one, as if it were `{field=*}`. */
function templateParts(template: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let at = 0
  for (const { 0: whole, 1: field = '', 2: segments = '*', index } of template.matchAll(VARIABLE)) {
    if (index > at) parts.push({ text: template.slice(at, index) })
    parts.push({ field: field.split('.'), segments: segments.split('/') })
    at = index + whole.length
  }
  if (at < template.length) parts.push({ text: template.slice(at) })
  return parts
}

/** Whether the template's fields are the parameters of a route: `*` is a segment, `**` the rest. */
function leadsTo(parts: readonly TemplatePart[], path: string): boolean {
  const text = parts.map((part) => ('text' in part ? part.text : part.segments.join('/'))).join('')
  const [template, verb] = withoutVerb(text)
  const [pathWithoutVerb, otherVerb] = withoutVerb(path)
  return verb === otherVerb && segmentsMatch(template.split('/'), pathWithoutVerb.split('/'))
}

function segmentsMatch([own, ...furtherSegments]: string[], [actual, ...others]: string[]): boolean {
  if (own === undefined) return actual === undefined
  if (own === '**')
    return furtherSegments.length === 0 && [actual ?? '{', ...others].every((each) => each.startsWith('{'))
  if (actual === undefined) return false
  return (actual.startsWith('{') || own === actual) && segmentsMatch(furtherSegments, others)
}

/** A custom verb comes after the last segment: `/accounts:delete`. */
function withoutVerb(path: string): [path: string, verb: string] {
  const [, before = path, verb = ''] = /^(.*):([^/:{}]*)$/.exec(path) ?? []
  return [before, verb]
}
