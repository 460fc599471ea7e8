import { isJsonObject, type JsonObject, own } from '../../domain/json.ts'
import { type ApiDocument, type ApiOperation, objectAt, textOf } from './api-document.ts'
import { snakeCase } from './generated-values.ts'
import type { Note } from './resources.ts'

/** The authorization type of a connector and what goes with it, out of what most operations ask for. */
export function authorizationOf(document: ApiDocument, operations: readonly ApiOperation[], note: Note): JsonObject {
  const { securitySchemes, follow } = document
  const counts = new Map<string, number>()
  for (const { security } of operations) {
    for (const names of security) counts.set(names.join(' '), (counts.get(names.join(' ')) ?? 0) + 1)
  }
  const asked = [...counts].sort((a, b) => b[1] - a[1]).map(([names]) => names.split(' ').filter((name) => name !== ''))
  // Many documents describe how to sign in, and do not require it.
  const [first] = Object.keys(securitySchemes)
  const alternatives = asked.length > 0 ? asked : first === undefined ? [[]] : [[first]]
  const readable = alternatives.map((names) =>
    names.flatMap((name) => {
      const scheme = follow(own(securitySchemes, name))
      return isJsonObject(scheme) ? [{ name, scheme }] : []
    }),
  )
  const made = readable.map((schemes) => (schemes.length > 0 ? typeOfSchemes(schemes) : undefined))
  const at = made.findIndex((each) => each !== undefined)
  const used = made[at]
  for (const [index, schemes] of alternatives.entries()) {
    if (index !== at && schemes.length > 0)
      note('left out: another way to sign in, because a connector has one', schemes.join(' with '))
  }
  return used ?? { authorization_type: 'NO_AUTH' }
}

interface Scheme {
  readonly name: string
  readonly scheme: JsonObject
}

const PEOPLE = ['ada@example.com', 'grace@example.com']

function typeOfSchemes(schemes: readonly Scheme[]): JsonObject | undefined {
  const oauth = schemes.find(({ scheme }) => ['oauth2', 'openIdConnect'].includes(textOf(scheme, 'type')))
  if (oauth) return oauthType(oauth.scheme)
  const [only, ...others] = schemes
  if (only && others.length === 0) return formType(only)
  return customType(schemes)
}

function oauthType(scheme: JsonObject): JsonObject {
  const flows = objectAt(scheme, 'flows')
  // Version 2.0 has one flow, beside its type.
  const names = textOf(scheme, 'flow') === '' ? Object.keys(flows) : [textOf(scheme, 'flow')]
  const scopes = Object.keys(
    Object.assign(
      {},
      objectAt(scheme, 'scopes'),
      ...Object.values(flows).map((flow) => (isJsonObject(flow) ? objectAt(flow, 'scopes') : {})),
    ) as JsonObject,
  ).filter((scope) => scope !== '')
  const isMachine = names.length > 0 && names.every((name) => name === 'clientCredentials' || name === 'application')
  const oauth = scopes.length > 0 && { oauth: { scopes } }
  return isMachine
    ? { authorization_type: 'OAUTH_M2M', ...oauth }
    : { authorization_type: 'OAUTH', ...oauth, people: PEOPLE }
}

function formType({ name, scheme }: Scheme): JsonObject | undefined {
  const type = textOf(scheme, 'type')
  const http = textOf(scheme, 'scheme').toLowerCase()
  if (type === 'basic' || http === 'basic') return { authorization_type: 'BASIC_AUTH' }
  if (http === 'bearer') return { authorization_type: 'BEARER_TOKEN' }
  if (type !== 'apiKey') return customType([{ name, scheme }])
  return { authorization_type: 'API_KEY', credentials: { send: sent(scheme, 'api_key') } }
}

/** Several that travel together, or one of a kind that no other type has. */
function customType(schemes: readonly Scheme[]): JsonObject | undefined {
  const fields: JsonObject[] = []
  const send: { headers: JsonObject; query: JsonObject } = { headers: {}, query: {} }
  for (const { name, scheme } of schemes) {
    const field = snakeCase(name) === '' || /^\d/.test(snakeCase(name)) ? `key_${snakeCase(name)}` : snakeCase(name)
    const type = textOf(scheme, 'type')
    const http = textOf(scheme, 'scheme').toLowerCase()
    const isBasic = type === 'basic' || http === 'basic'
    if (!isBasic && type !== 'apiKey' && http === '') return undefined
    const names = isBasic ? [`${field}_username`, `${field}_password`] : [field]
    fields.push(...names.map((each) => ({ name: each })))
    const word = http === 'bearer' ? 'Bearer' : textOf(scheme, 'scheme')
    const parts = isBasic
      ? { headers: { Authorization: `{{basic credentials.${names.join(' credentials.')}}}` } }
      : type === 'apiKey'
        ? sent(scheme, field)
        : { headers: { Authorization: `${word} {{credentials.${field}}}` } }
    Object.assign(send.headers, objectAt(parts, 'headers'))
    Object.assign(send.query, objectAt(parts, 'query'))
  }
  return { authorization_type: 'CUSTOM', credentials: { fields, send } }
}

function sent(scheme: JsonObject, field: string): JsonObject {
  const [name, value] = [textOf(scheme, 'name'), `{{credentials.${field}}}`]
  if (textOf(scheme, 'in') === 'query') return { query: { [name]: value } }
  return { headers: textOf(scheme, 'in') === 'cookie' ? { Cookie: `${name}=${value}` } : { [name]: value } }
}
