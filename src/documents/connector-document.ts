import { type AuthorizationType } from '../domain/authorization-type.ts'
import type {
  Connector,
  CredentialField,
  Responder,
  ResponderAnswer,
  ResponderMatch,
  Tool,
} from '../domain/connector.ts'
import { bareConnector, credentialField, defaultCredentials, displayName } from '../domain/connector-defaults.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import type { AnswerDocument, ConnectorDocument, ResponderDocument } from './connector-schema.ts'

/** The connector that a valid document describes, with every default filled in. */
export function toConnector(document: ConnectorDocument): Connector {
  const type: AuthorizationType = document.authorization_type ?? 'CUSTOM'
  const base = bareConnector(document.connector, type)
  const oauth = document.oauth
  return {
    ...base,
    display_name: document.display_name ?? base.display_name,
    description: document.description,
    icon_src: document.icon_src,
    categories: document.categories,
    oauth: oauth ? { ...oauth, refresh_token: oauth.refresh_token ?? base.oauth.refresh_token } : base.oauth,
    cluster: document.cluster ?? base.cluster,
    credentials: toCredentials(document.credentials, type),
    people: document.people,
    reject: document.reject,
    base_url: document.base_url?.replace(/\/+$/, '') ?? null,
    custom_provider: document.custom_provider ?? null,
    tools: document.tools.map(toTool),
    responders: document.responders.map(toResponder),
  }
}

function toCredentials(given: ConnectorDocument['credentials'], type: AuthorizationType): Connector['credentials'] {
  const fields = given?.fields?.map((field): CredentialField => {
    const plain = credentialField(field.name)
    return { ...field, label: field.label ?? plain.label, secret: field.secret ?? plain.secret }
  })
  const defaults = defaultCredentials(type, fields)
  return given?.send ? { ...defaults, send: given.send } : defaults
}

function toTool(document: ConnectorDocument['tools'][number]): Tool {
  const { call } = document
  return {
    ...document,
    display_name: document.display_name ?? displayName(document.name),
    call: { ...call, body: call.body ?? null },
    result: document.result ?? null,
  }
}

function toResponder(document: ResponderDocument): Responder {
  const answers = document.sequence ?? (document.respond ? [document.respond] : [])
  return { on: toMatch(document.on), answers: answers.map(toAnswer), after_last: document.after_last ?? 'repeat' }
}

function toAnswer(document: AnswerDocument): ResponderAnswer {
  return { ...document, body: document.body ?? null }
}

function toMatch(on: ResponderDocument['on']): ResponderMatch {
  const { method, path, query, headers, body, account } = on
  return {
    ...(method && { method }),
    ...(path && { path }),
    ...(query && { query }),
    ...(headers && { headers }),
    ...(body && { body: Object.fromEntries(dottedPaths(body)) }),
    ...(account && { account: account as Record<string, string> }),
  }
}

/** Nested objects as dotted paths; lists and empty objects are values. */
function dottedPaths(object: JsonObject, prefix = ''): [string, JsonValue][] {
  return Object.entries(object).flatMap(([key, value]) =>
    isJsonObject(value) && Object.keys(value).length > 0
      ? dottedPaths(value, `${prefix}${key}.`)
      : [[`${prefix}${key}`, value] as [string, JsonValue]],
  )
}
