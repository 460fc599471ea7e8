import type { DescMessage, Registry } from '@bufbuild/protobuf'
import { Code, ConnectError } from '@connectrpc/connect'
import { grpcCodeOf, codesOfStatus } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonObject, jsonText, type JsonValue, parsedJson, textOf } from '../../model/domain/json.ts'
import { ErrorInfoSchema } from './generated/google/rpc/error_details_pb.ts'
import { type MessageContext, messageFrom } from './transcoding.ts'

const CODES: ReadonlyMap<number, Code> = new Map(
  Object.values(Code).flatMap((code) => (typeof code === 'number' ? [[code, code] as const] : [])),
)

/** An answer of 400 and above as the status of a call: code, message and typed details (G62). */
export function statusOf(
  { status, body, metadata }: { status: number; body: JsonValue; metadata: Headers },
  context: MessageContext,
): ConnectError {
  const { code, message, details } = isJsonObject(body) ? body : {}
  const number = typeof code === 'number' ? code : grpcCodeOf('', status)
  const grpcCode = CODES.get(number) ?? Code.Unknown
  const text = typeof message === 'string' ? message : `the mock answered ${status}`
  const detailObjects = (Array.isArray(details) ? details : []).filter(isJsonObject)
  // A scenario may answer without details, and every error has some.
  const infos = detailObjects.length > 0 ? detailObjects : [{ error_code: codesOfStatus(status)[0] ?? 'INTERNAL' }]
  return new ConnectError(
    text,
    grpcCode,
    metadata,
    infos.map((info) => errorInfo(info, context)),
  )
}

/** `ErrorInfo` as the definitions declare it; `google.rpc.ErrorInfo` where they declare none. */
function errorInfo(info: JsonObject, context: MessageContext) {
  const messageType = ownErrorInfo(context.registry, info)
  if (!messageType) return { desc: ErrorInfoSchema, value: googleErrorInfo(info) }
  const { '@type': _, ...fields } = info
  return { desc: messageType, value: messageFrom(messageType, fields, context) }
}

function ownErrorInfo(registry: Registry, { '@type': type }: JsonObject): DescMessage | undefined {
  const messageType = typeof type === 'string' ? registry.getMessage(type.slice(type.lastIndexOf('/') + 1)) : undefined
  if (messageType) return messageType
  const messages = [...registry].filter((desc): desc is DescMessage => desc.kind === 'message')
  return messages.find(({ name, typeName }) => name === 'ErrorInfo' && typeName !== ErrorInfoSchema.typeName)
}

/** Its metadata has every text of the details, by its name. */
function googleErrorInfo(info: JsonObject) {
  const { '@type': _, error_code: reason, ...rest } = info
  const texts = Object.values(rest).flatMap((part) => (isJsonObject(part) ? Object.entries(part) : []))
  const metadata = texts.flatMap(([name, value]): [string, string][] =>
    value === null ? [] : [[name, typeof value === 'string' ? value : jsonText(value)]],
  )
  return { reason: textOf(reason), domain: 'toolmock', metadata: Object.fromEntries(metadata) }
}

/** Headers that belong to the JSON body, or to HTTP/1.1. */
const OF_THE_BODY = new Set(['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'connection'])

export function metadataOf(headers: Readonly<Record<string, string | string[]>>): Headers {
  const metadata = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (!OF_THE_BODY.has(name.toLowerCase())) metadata.set(name, String(value))
  }
  return metadata
}

/** @param body undefined for no body; a text that is no JSON as it is */
export function jsonBody(text: string | Buffer): JsonValue | undefined {
  if (text.length === 0) return undefined
  const value = parsedJson(text.toString())
  return value === undefined ? text.toString() : value
}
