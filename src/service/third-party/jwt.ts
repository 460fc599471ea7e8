import { createHmac } from 'node:crypto'
import { isJsonObject, type JsonObject, parsedJson } from '../../model/domain/json.ts'

/** A JSON Web Token signed with HMAC-SHA256 (RFC 7519, `HS256`). */
export function signJwt(claims: JsonObject, secret: string): string {
  const content = `${jwtPart({ alg: 'HS256', typ: 'JWT' })}.${jwtPart(claims)}`
  return `${content}.${jwtSignature(content, secret)}`
}

/** The claims of a token that was signed with `secret`; undefined for every other text. */
export function verifyJwt(token: string, secret: string): JsonObject | undefined {
  const [header, claims, signature, ...extraParts] = token.split('.')
  if (header === undefined || claims === undefined || extraParts.length > 0) return undefined
  if (header !== jwtPart({ alg: 'HS256', typ: 'JWT' }) || signature !== jwtSignature(`${header}.${claims}`, secret))
    return undefined
  const value = parsedJson(Buffer.from(claims, 'base64url').toString('utf8'))
  return isJsonObject(value) ? value : undefined
}

function jwtPart(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url')
}

function jwtSignature(content: string, secret: string): string {
  return createHmac('sha256', secret).update(content).digest('base64url')
}
