import { createPublicKey, sign, verify } from 'node:crypto'
import type { McpKey } from './generated/tables.ts'
import { isJsonObject, parsedJson } from './json.ts'

export type { McpConfig, McpInstance, McpKey, McpMapping } from './generated/tables.ts'

/** What a session token says: who may call which virtual MCP server, with which accounts (G61). Times are seconds. */
export interface SessionClaims {
  readonly iss: string
  /** The identifier of the user. */
  readonly sub: string
  /** The URL of the server. */
  readonly aud: readonly [string]
  readonly iat: number
  readonly exp: number
  readonly token_type: 'mcp_session'
  readonly access_level: 'FULL' | 'READ_ONLY'
  /** The ids of the user's accounts. */
  readonly ca_ids: readonly string[]
  /** The config or the connection whose server it is. */
  readonly mcp_cfg?: string
  readonly conn_id?: string
}

/** The form of a session token; access tokens of the service have no dots. */
const JWT = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/

export function isSessionToken(token: string): boolean {
  return JWT.test(token)
}

/** The claims as a JWT (RFC 7519), signed by RS256. */
export function signedToken(claims: SessionClaims, { id, private_key }: McpKey): string {
  const signed = [{ alg: 'RS256', kid: id, typ: 'JWT' }, claims].map(encodeTokenPart).join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), private_key).toString('base64url')}`
}

/** The claims of a token that a key has signed, and its key; undefined for every other text, whatever its header says. */
export function verifiedToken<Found extends { readonly key: McpKey }>(
  token: string,
  findKey: (kid: string) => Found | undefined,
): (Found & { readonly claims: SessionClaims }) | undefined {
  const [, header = '', payload = '', signature = ''] = JWT.exec(token) ?? []
  const { alg, kid } = decodePart(header)
  const signer = alg === 'RS256' && typeof kid === 'string' ? findKey(kid) : undefined
  if (!signer) return undefined
  const key = createPublicKey({ key: publicKey(signer.key), format: 'jwk' })
  const isSigned = verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))
  // The signature says that the mock has written the claims.
  return isSigned ? { ...signer, claims: decodePart(payload) as unknown as SessionClaims } : undefined
}

/** The public half of a key as a JWK (RFC 7517). */
export function publicKey({ id, n, e }: McpKey) {
  return { kty: 'RSA', use: 'sig', alg: 'RS256', kid: id, n, e }
}

function encodeTokenPart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

function decodePart(part: string): Record<string, unknown> {
  const value = parsedJson(Buffer.from(part, 'base64url').toString())
  return isJsonObject(value) ? value : {}
}
