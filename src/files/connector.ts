import { type AuthorizationType, AUTHORIZATION_TYPES, TRAITS } from '../model/domain/authorization-type.ts'
import type {
  Connector,
  CredentialField,
  RateLimit,
  Responder,
  CannedResponse,
  ResponderMatch,
  Tool,
} from '../model/domain/connector.ts'
import {
  bareConnector,
  defaultCredentialField,
  defaultCredentials,
  displayName,
} from '../model/domain/connector-defaults.ts'
import { withoutUndefined } from '../model/domain/json.ts'
import { dottedPaths } from '../model/domain/value-match.ts'
import {
  connectorDocument,
  type ParsedResponse,
  type ParsedConnector,
  type ParsedResponder,
} from '../model/schema/connector.ts'
import { type Report, withRule } from '../model/schema/parts.ts'
import { responseAfter, checkCollections, toStep } from './collections.ts'

function toRateLimit({ otherwise: response, ...limit }: NonNullable<ParsedConnector['rate_limit']>): RateLimit {
  return { ...limit, ...(response && { otherwise: withoutUndefined(response) }) }
}

export const connectorSchema = withRule(withRule(connectorDocument, checkType), checkCollections)

/** Which keys go with an authorization type, and which it needs. */
function checkType(
  {
    authorization_type: type,
    custom_provider,
    provider,
    cluster,
    oauth,
    credentials,
    people,
  }: Partial<ParsedConnector>,
  report: Report,
): void {
  if (provider !== undefined && custom_provider !== undefined) {
    const allowed = 'provider in connectors without custom_provider, whose providers have generated identifiers'
    report(['provider'], { found: 'set beside custom_provider', allowed, atKey: true })
  }
  if (type === undefined) {
    const allowed = `one of ${AUTHORIZATION_TYPES.join(', ')}; or custom_provider in its place`
    if (custom_provider === undefined) report(['authorization_type'], { allowed })
    return
  }
  const { source, kind } = TRAITS[type]
  const only = (key: string, value: unknown, fits: boolean, allowed: string): void => {
    if (fits || value === undefined) return
    report([key], { found: `set in a connector of type ${type}`, allowed: `${key} in ${allowed}`, atKey: true })
  }
  only('cluster', cluster, type === 'TRUSTED_IDP', 'connectors of type TRUSTED_IDP')
  only('oauth', oauth, kind !== null && source !== 'form', 'connectors whose accounts have tokens')
  const ofForms = 'API_KEY, BASIC_AUTH, BEARER_TOKEN, CUSTOM and BASIC connectors'
  only('credentials', credentials, source === 'form', ofForms)
  if (source === 'consent' && !people?.length) {
    report(['people'], { allowed: `at least one identity that can sign in, because ${type} asks for consent` })
  }
  if (type !== 'CUSTOM' || custom_provider !== undefined) return
  // What a CUSTOM connector asks for, and how that is sent, has no default.
  for (const key of ['fields', 'send'] as const) {
    if (Object.keys(credentials?.[key] ?? {}).length > 0) continue
    report(['credentials', key], { allowed: `credentials.${key}, because the type CUSTOM has no default` })
  }
}

/** The connector that a valid document describes, with every default filled in. */
export function toConnector(document: ParsedConnector): Connector {
  const { $schema: _schema, authorization_type, rate_limit, oauth, ...declaration } = document
  const type: AuthorizationType = authorization_type ?? 'CUSTOM'
  const base = bareConnector(document.connector, type)
  return {
    ...base,
    ...withoutUndefined(declaration),
    oauth: { ...base.oauth, ...withoutUndefined(oauth ?? {}) },
    credentials: toCredentials(document.credentials, type),
    base_url: document.base_url?.replace(/\/+$/, '') ?? null,
    custom_provider: document.custom_provider ?? null,
    tools: document.tools.map(toTool),
    ...(rate_limit && { rate_limit: toRateLimit(rate_limit) }),
    responders: document.responders.map(toResponder),
  }
}

function toCredentials(declared: ParsedConnector['credentials'], type: AuthorizationType): Connector['credentials'] {
  const fields = declared?.fields?.map((field): CredentialField => {
    const plain = defaultCredentialField(field.name)
    return { ...field, label: field.label ?? plain.label, secret: field.secret ?? plain.secret }
  })
  const defaults = defaultCredentials(type, fields)
  return declared?.send ? { ...defaults, send: declared.send } : defaults
}

function toTool(document: ParsedConnector['tools'][number]): Tool {
  const { call } = document
  return {
    ...document,
    display_name: document.display_name ?? displayName(document.name),
    call: { ...call, body: call.body ?? null },
    result: document.result ?? null,
  }
}

export function toResponder(document: ParsedResponder): Responder {
  const on = toMatch(document.on)
  if (document.steps) {
    const steps = document.steps.map(toStep)
    const { status, headers = {}, body } = document.respond ?? {}
    const usual = responseAfter(steps.findLast(({ action }) => action !== 'refuse'))
    const response = { status: status ?? usual.status, headers, body: body === undefined ? usual.body : body }
    return { on, steps, answers: [response], after_last: 'repeat' }
  }
  const responses = document.sequence ?? (document.respond ? [document.respond] : [])
  const per = document.per === 'account' && { per: document.per }
  return { on, answers: responses.map(toResponse), ...per, after_last: document.after_last ?? 'repeat' }
}

function toResponse({ status = 200, headers, body = null }: ParsedResponse): CannedResponse {
  return { status, headers, body }
}

function toMatch({ body, account, ...on }: ParsedResponder['on']): ResponderMatch {
  return {
    ...withoutUndefined(on),
    ...(body && { body: dottedPaths(body) }),
    ...(account && { account: withoutUndefined(account) }),
  }
}
