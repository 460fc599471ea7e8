import { createHmac } from 'node:crypto'
import { invalidField, ruleAndFound, type ServiceError } from './errors.ts'
import { quote } from './text.ts'

/** A position in creation order, seen from one side: rows with a greater sequence, or with a smaller one (G4). */
export type Position = { after: number } | { before: number }

/** What a page token is bound to: environment, listing and filters, in a fixed order (G4, G60). */
export type PageTokenBinding = readonly (readonly [name: string, value: string | readonly string[] | undefined])[]

/** Opaque base64url of a position, bound to the filters it was issued for. */
export function encodePageToken(position: Position, binding: PageTokenBinding): string {
  const payload = 'after' in position ? `a${position.after}` : `b${position.before}`
  return Buffer.from(`${payload}.${tokenChecksum(payload, binding)}`).toString('base64url')
}

/** @throws ServiceError INVALID_PAGE_TOKEN when malformed, tampered with, or issued for other filters */
export function decodePageToken(token: string, binding: PageTokenBinding): Position {
  const text = Buffer.from(token, 'base64url').toString('latin1')
  const parts = /^(?<side>[ab])(?<sequence>\d{1,15})\.(?<checksum>[\w-]{22})$/.exec(text)?.groups
  const canonical = Buffer.from(text, 'latin1').toString('base64url') === token
  if (!parts?.side || !parts.sequence || !parts.checksum || !canonical)
    throw invalidPageToken(`${quote(token, 40)}, which is no page token`)
  const expected = tokenChecksum(`${parts.side}${parts.sequence}`, binding)
  if (parts.checksum !== expected) {
    throw invalidPageToken('one of other filters, or a changed one')
  }
  const sequence = Number(parts.sequence)
  return parts.side === 'a' ? { after: sequence } : { before: sequence }
}

/** Detects tampering by mistake or by a test; it is not a secret. */
function tokenChecksum(payload: string, binding: PageTokenBinding): string {
  return createHmac('sha256', 'toolmock page token')
    .update(JSON.stringify([payload, binding]))
    .digest('base64url')
    .slice(0, 22)
}

function invalidPageToken(mistake: string): ServiceError {
  const description = ruleAndFound(
    'must be next_page_token or prev_page_token of an answer to the same filters',
    mistake,
  )
  return invalidField('page_token', description, 'page_token', 'INVALID_PAGE_TOKEN')
}
