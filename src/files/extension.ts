import { z } from 'zod'
import { type Extension, servesSame } from '../model/domain/extension.ts'
import { isJsonObject, type JsonObject, type JsonValue, objectAt, ownMember } from '../model/domain/json.ts'
import { METHODS, partsOverlap } from '../model/domain/path-pattern.ts'
import { type Path, type Problem, problemValue, valuesAt } from '../model/schema/problems.ts'
import { schemaReference, strict, text, uniqueList, withRule } from '../model/schema/parts.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { namedResponder, responderKeys } from '../model/schema/connector.ts'
import { checkCollections } from './collections.ts'
import { toResponder } from './connector.ts'

/** Names are operations in the journal and in scenarios, and travel in paths. */
const extensionName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,63}$/, {
    error: 'a small letter, then up to 63 small letters, digits, underscores and hyphens',
  })
  .meta({ title: 'name' })

export const extensionSchema = withRule(
  strict({
    $schema: schemaReference,
    extension: extensionName.describe('Its name: the operation of its requests in the journal, and in scenarios.'),
    description: text.default('').describe('For readers of the file.'),
    collections: responderKeys.collections,
    responders: uniqueList(namedResponder, 'name')
      .min(1)
      .describe('What it answers: the first responder that matches. Each has a path that the mock does not serve.'),
    error_body: responderKeys.error_body.describe(
      'The body when a step fails, templates over error (status, code, message) and request. Absent: an error of the service.',
    ),
  }),
  checkCollections,
)

export function toExtension({
  extension,
  collections,
  responders,
  error_body,
}: z.output<typeof extensionSchema>): Extension {
  return {
    extension,
    connector: `extension.${extension}`,
    ...(collections && {
      collections: Object.fromEntries(
        Object.entries(collections).map(([name, each]) => [name, { ...each, per: 'environment' as const }]),
      ),
    }),
    responders: responders.map(({ name, body_schema, ...responder }) => {
      const { on, ...responderFields } = toResponder(responder)
      return { name, ...responderFields, on: { ...on, path: on.path ?? '' }, ...(body_schema && { body_schema }) }
    }),
    ...(error_body && { error_body }),
  }
}

/** First parts of paths that are the mock's own, whatever is below them. */
const RESERVED = ['_mock', 'oauth', 'magic', 'third-party', 'proxy', 'mcp', 'keys', 'connect', '.well-known']

/** Names and paths that the mock has itself, and items of accounts, however the rest of the document is written. */
export function servedProblems(document: JsonObject, { operations, routes }: DocumentChecks): Problem[] {
  const name = ownMember(document, 'extension')
  const isTaken = typeof name === 'string' && routes.some(({ operation }) => operation === name)
  const taken = { path: ['extension'], found: `${problemValue(name)}, which is an operation`, allowed: 'another name' }
  const perAccount = Object.entries(objectAt(document, 'collections')).filter(
    ([, collection]) => isJsonObject(collection) && ownMember(collection, 'per') === 'account',
  )
  const isProxy = name === 'proxy_request' && operations.has(name)
  return [
    ...(isTaken || isProxy ? [taken] : []),
    ...perAccount.map(([collection]) => ({
      path: ['collections', collection, 'per'],
      found: '"account"',
      allowed: 'environment: a request of the service is of no account',
    })),
    ...valuesAt(document, ['responders', '*', 'on']).flatMap(({ path, value: on }) =>
      isJsonObject(on) ? pathProblems(ownMember(on, 'method'), ownMember(on, 'path'), [...path, 'path'], routes) : [],
    ),
  ]
}

function pathProblems(
  method: JsonValue | undefined,
  pattern: JsonValue | undefined,
  at: Path,
  routes: DocumentChecks['routes'],
): Problem[] {
  if (typeof pattern !== 'string' || !pattern.startsWith('/')) return []
  if (/[?#]|\/\.{1,2}(?=\/|$)/.test(pattern)) {
    const mistake = `${problemValue(pattern)}, which the path of no request matches`
    return [
      { path: at, found: mistake, allowed: 'a path without query, fragment, "." and ".."; on.query matches a query' },
    ]
  }
  const [, first = ''] = pattern.split('/')
  const reserved = RESERVED.find((each) => partsOverlap(first, each))
  if (pattern === '/' || reserved !== undefined) {
    const owner = reserved === undefined ? 'the start page of the mock' : `a path under /${reserved}`
    const allowed = `a path that begins with no parameter and not with ${RESERVED.map((each) => `/${each}`).join(', ')}`
    return [{ path: at, found: `${problemValue(pattern)}, which can be ${owner}`, allowed }]
  }
  const asked = METHODS.find((each) => each === method)
  const served = routes.find((route) => servesSame({ method: asked, path: pattern }, route))
  if (!served) return []
  const mistake = `${asked ?? 'any method'} ${pattern}, where the mock serves ${served.operation} (${served.method} ${served.path})`
  return [{ path: at, found: mistake, allowed: 'a method and path that the mock does not serve' }]
}
