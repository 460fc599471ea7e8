import { sign } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  isSessionToken,
  type McpKey,
  publicKey,
  type SessionClaims,
  signedToken,
  verifiedToken,
} from '../../../src/model/domain/session-token.ts'
import { newMcpKey } from '../../../src/state/model/time-and-ids.ts'

const CLAIMS: SessionClaims = {
  iss: 'http://127.0.0.1:8665',
  sub: 'ada@example.com',
  aud: ['http://127.0.0.1:8665/mcp/v3/connections/mail'],
  iat: 1,
  exp: 2,
  token_type: 'mcp_session',
  access_level: 'FULL',
  ca_ids: ['ca_1'],
  conn_id: 'conn_1',
}

let key: McpKey
beforeAll(async () => {
  key = await newMcpKey()
})

function find(kid: string): { key: McpKey } | undefined {
  return kid === key.id ? { key } : undefined
}

function encoded(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** A token that the key has signed, with another header or payload. */
function signedBy(header: unknown, payload: unknown = CLAIMS): string {
  const signed = `${encoded(header)}.${encoded(payload)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key.private_key).toString('base64url')}`
}

describe('a session token', () => {
  it('is verified by its key, whose public half has no private part', () => {
    const token = signedToken(CLAIMS, key)
    expect(isSessionToken(token)).toBe(true)
    expect(verifiedToken(token, find)).toEqual({ key, claims: CLAIMS })
    expect(verifiedToken(token, () => undefined)).toBeUndefined()
    expect(publicKey(key)).toEqual({ kty: 'RSA', use: 'sig', alg: 'RS256', kid: key.id, n: key.n, e: key.e })
  })

  it.each([
    ['another algorithm', () => signedBy({ alg: 'RS512', kid: key.id })],
    ['no algorithm', () => signedBy({ alg: 'none', kid: key.id })],
    ['another key', () => signedBy({ alg: 'RS256', kid: 'other' })],
    ['a header that is a list', () => signedBy([{ alg: 'RS256', kid: key.id }])],
    ['a header that is no JSON', () => signedToken(CLAIMS, key).replace(/^[^.]+/, 'abc')],
    ['no signature', () => signedToken(CLAIMS, key).replace(/[^.]+$/, '')],
    ['another payload', () => signedToken(CLAIMS, key).replace(/\.[^.]+\./, `.${encoded({ ...CLAIMS, exp: 3 })}.`)],
    ['text before it', () => `x ${signedToken(CLAIMS, key)}`],
  ])('with %s is none', (_, token) => {
    expect(verifiedToken(token(), find)).toBeUndefined()
  })

  it.each(['tmk_J3VQmS0t1Qxw2kXq5tqk9bV0cJd7m4uYyN8e6rLhZpA', 'a.b', 'a.b.c.d', '.b.c', ''])('is not %j', (text) => {
    expect(isSessionToken(text)).toBe(false)
  })
})
