import { AUTHORIZATION_TYPES } from '../../domain/authorization-type.ts'
import type {
  Connector,
  CredentialField,
  Responder,
  ResponderAnswer,
  ResponderMatch,
  Tool,
} from '../../domain/connector.ts'
import type { Rows } from '../model/model.ts'
import {
  anything,
  array,
  boolean,
  fields,
  type Fields,
  integer,
  jsonObject,
  nullable,
  number,
  oneOf,
  optional,
  string,
  strings,
  textMap,
} from './shape.ts'

const tool = fields<Tool>({
  name: string,
  display_name: string,
  description: string,
  tags: strings,
  is_default: boolean,
  input_schema: jsonObject,
  call: fields<Tool['call']>({
    method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: string,
    query: textMap,
    headers: textMap,
    body: anything,
    timeout: number,
  }),
  result: nullable(jsonObject),
})

const responder = fields<Responder>({
  on: fields<ResponderMatch>({
    method: optional(string),
    path: optional(string),
    query: optional(textMap),
    headers: optional(textMap),
    body: optional(jsonObject),
    account: optional(textMap),
  }),
  answers: array(fields<ResponderAnswer>({ status: integer, headers: textMap, body: anything })),
  after_last: oneOf(['repeat', 'restart', 'next']),
})

/** A connector as it is stored: its file with every default filled in. Templates in it were checked when that was read. */
export const connector: Fields<Rows['connectors']> = {
  id: string,
  connector: string,
  display_name: string,
  description: string,
  icon_src: string,
  categories: strings,
  authorization_type: oneOf(AUTHORIZATION_TYPES),
  oauth: fields<Connector['oauth']>({
    scopes: strings,
    access_token_lifetime: number,
    refresh_token: oneOf(['keep', 'rotate', 'none']),
    domain: string,
  }),
  cluster: oneOf(['provisioned', 'serverless']),
  credentials: fields<Connector['credentials']>({
    fields: array(
      fields<CredentialField>({ name: string, label: string, secret: boolean, required: boolean, hint: string }),
    ),
    send: fields<Connector['credentials']['send']>({ headers: textMap, query: textMap }),
  }),
  people: strings,
  reject: strings,
  base_url: nullable(string),
  custom_provider: nullable(string),
  tools: array(tool),
  responders: array(responder),
}
