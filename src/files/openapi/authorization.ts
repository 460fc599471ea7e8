import { DEFAULT_PEOPLE } from '../../model/domain/connector-defaults.ts'
import { isJsonObject, type JsonObject, objectAt, ownMember } from '../../model/domain/json.ts'
import { type ApiDocument, type ApiOperation, trimmedAt } from './api-document.ts'
import { snakeCase } from './generated-values.ts'
import type { Note } from './resources.ts'

/** The authorization type of a connector and what goes with it, out of what most operations ask for. */
export function authorizationOf(document: ApiDocument, operations: readonly ApiOperation[], note: Note): JsonObject {
  const { securitySchemes, follow } = document
  const counts = new Map<string, number>()
  for (const names of operations.flatMap(({ security }) => security)) {
    const key = JSON.stringify(names)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const asked = [...counts].sort((a, b) => b[1] - a[1]).map(([names]) => JSON.parse(names) as string[])
  // Many documents describe how to sign in, and do not require it.
  const alternatives = asked.length > 0 ? asked : [Object.keys(securitySchemes).slice(0, 1)]
  const requirements = alternatives.map((names) =>
    typeOfSchemes(
      names.flatMap((name) => {
        const scheme = follow(ownMember(securitySchemes, name))
        return isJsonObject(scheme) ? [{ name, scheme }] : []
      }),
    ),
  )
  const used = requirements.findIndex((each) => each !== undefined)
  for (const [at, names] of alternatives.entries()) {
    if (at === used || names.length === 0) continue
    note('left out: another way to sign in, because a connector has one', names.join(' with '))
  }
  return requirements[used] ?? { authorization_type: 'NO_AUTH' }
}

interface Scheme {
  readonly name: string
  readonly scheme: JsonObject
}

function typeOfSchemes(schemes: readonly Scheme[]): JsonObject | undefined {
  const oauth = schemes.find(({ scheme }) => ['oauth2', 'openIdConnect'].includes(trimmedAt(scheme, 'type')))
  if (oauth) return oauthType(oauth.scheme)
  const [only, ...others] = schemes
  if (!only) return undefined
  switch (others.length === 0 ? schemeKind(only.scheme) : '') {
    case 'basic':
      return { authorization_type: 'BASIC_AUTH' }
    case 'bearer':
      return { authorization_type: 'BEARER_TOKEN' }
    case 'apiKey':
      return { authorization_type: 'API_KEY', credentials: { send: credentialPlace(only.scheme, 'api_key') } }
    default:
      return customType(schemes)
  }
}

function oauthType(scheme: JsonObject): JsonObject {
  const flows = objectAt(scheme, 'flows')
  // Version 2.0 has one flow, beside its type.
  const names = trimmedAt(scheme, 'flow') === '' ? Object.keys(flows) : [trimmedAt(scheme, 'flow')]
  const described = [scheme, ...Object.values(flows).filter(isJsonObject)].map((flow) => objectAt(flow, 'scopes'))
  const scopes = Object.keys(Object.assign({}, ...described) as JsonObject).filter((scope) => scope !== '')
  const isMachine = names.length > 0 && names.every((name) => name === 'clientCredentials' || name === 'application')
  const oauth = scopes.length > 0 && { oauth: { scopes } }
  return isMachine
    ? { authorization_type: 'OAUTH_M2M', ...oauth }
    : { authorization_type: 'OAUTH', ...oauth, people: DEFAULT_PEOPLE }
}

/** `apiKey`, or the scheme of HTTP in small letters; empty for one of which a request carries nothing. */
function schemeKind(scheme: JsonObject): string {
  const type = trimmedAt(scheme, 'type')
  return type === 'apiKey' || type === 'basic' ? type : trimmedAt(scheme, 'scheme').toLowerCase()
}

/** Several that travel together, or one of a kind that no other type has. */
function customType(schemes: readonly Scheme[]): JsonObject | undefined {
  const fields: JsonObject[] = []
  const send = { headers: {}, query: {} }
  for (const { name, scheme } of schemes) {
    const kind = schemeKind(scheme)
    if (kind === '') return undefined
    const snake = snakeCase(name)
    const field = snake === '' || /^\d/.test(snake) ? `key_${snake}` : snake
    const names = kind === 'basic' ? [`${field}_username`, `${field}_password`] : [field]
    fields.push(...names.map((each) => ({ name: each })))
    const parts = credentialPlace(scheme, field)
    Object.assign(send.headers, objectAt(parts, 'headers'))
    Object.assign(send.query, objectAt(parts, 'query'))
  }
  return { authorization_type: 'CUSTOM', credentials: { fields, send } }
}

function credentialPlace(scheme: JsonObject, field: string): JsonObject {
  const [kind, name, value] = [schemeKind(scheme), trimmedAt(scheme, 'name'), `{{credentials.${field}}}`]
  if (kind === 'basic') {
    return { headers: { Authorization: `{{basic credentials.${field}_username credentials.${field}_password}}` } }
  }
  if (kind !== 'apiKey') {
    return { headers: { Authorization: `${kind === 'bearer' ? 'Bearer' : trimmedAt(scheme, 'scheme')} ${value}` } }
  }
  if (trimmedAt(scheme, 'in') === 'query') return { query: { [name]: value } }
  return { headers: trimmedAt(scheme, 'in') === 'cookie' ? { Cookie: `${name}=${value}` } : { [name]: value } }
}
