import { z } from 'zod'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import type { FaultKind, FaultParameters } from '../domain/scenario.ts'
import { anyJson, duration, nonEmpty, strict, text, textMap } from './schema-parts.ts'

/*
 * What each fault takes in a scenario file, and what is read from it. What a fault does is in `scenarios/faults/`.
 */

/** No file waits longer than this: whoever needs more wants `timeout`. */
const LONGEST_WAIT = 600_000

const milliseconds = z
  .custom<string | number>((value) => waitOf(value) !== undefined, {
    error: `milliseconds as a number, or a duration with its unit such as 250ms or 2s, of at most ${LONGEST_WAIT} ms`,
  })
  .transform((value) => waitOf(value) ?? 0)
  .meta({ type: ['number', 'string'] })

function waitOf(value: unknown): number | undefined {
  const hasUnit = typeof value === 'string' && /[a-zA-Z]/.test(value)
  const found = typeof value === 'number' ? value : hasUnit ? parseDuration(value) : undefined
  return found !== undefined && found >= 0 && found <= LONGEST_WAIT ? Math.round(found) : undefined
}

/** A fault that needs no telling: `{}`, or nothing after the colon. */
const nothing = strict({})
  .nullable()
  .transform(() => ({}))

const respond = strict({
  status: z.int().min(100).max(599).optional().describe('Required, but at consent.'),
  error_code: nonEmpty.optional().describe('At service: the error_code of the default body.'),
  message: text.optional().describe('The message of the default body.'),
  headers: textMap.default({}),
  body: anyJson.optional().describe('JSON, or a text; at service the error body of the status when absent.'),
}).transform(({ status, error_code, message, headers, body }) => ({
  status: status ?? null,
  error_code: error_code ?? null,
  message: message ?? null,
  headers,
  body,
}))

const latency = z
  .union([
    milliseconds.transform((ms) => ({ min: ms, max: ms })),
    strict({ ms: milliseconds }).transform(({ ms }) => ({ min: ms, max: ms })),
    strict({ min: milliseconds, max: milliseconds }),
  ])
  .describe('Milliseconds, or {min, max}: chance between the two, seeded.')

const slowBody = strict({
  over: milliseconds.default(3000).describe('How long the body takes.'),
  pieces: z.int().min(2).max(1000).default(10).describe('In how many pieces it leaves.'),
})
  .nullable()
  .transform((given) => given ?? { over: 3000, pieces: 10 })

const truncateBody = strict({ bytes: z.int().min(0).optional().describe('How much is sent; half when absent.') })
  .nullable()
  .transform((given) => ({ bytes: given?.bytes ?? null }))

const advanceClock = z
  .union([duration.transform((by) => ({ by })), strict({ by: duration })])
  .describe(`How far: ${DURATION_FORMS}.`)

/** By kind. Each is one key of an item of `do`. */
export const FAULT_SCHEMAS = {
  respond: respond.describe('Another answer instead of the plain one; nothing is carried out.'),
  latency,
  timeout: nothing.describe('No answer ever; nothing is carried out.'),
  reset_connection: nothing.describe('The connection is reset (RST); nothing is carried out.'),
  empty_response: nothing.describe('The connection is closed without an octet; nothing is carried out.'),
  truncate_body: truncateBody.describe('The answer ends before its Content-Length.'),
  malformed_json: nothing.describe('The body of the answer is no JSON.'),
  slow_body: slowBody.describe('The body of the answer comes in pieces, slowly.'),
  expire_access_token: nothing.describe("The account's access token has expired."),
  expire_account: nothing.describe('The account becomes EXPIRED.'),
  revoke_refresh_token: nothing.describe("The third party forgets the account's refresh token."),
  disconnect: nothing.describe('The account becomes DISCONNECTED, and the third party refuses its credentials.'),
  revoke_bearer_tokens: nothing.describe('Every bearer token of the environment is revoked.'),
  advance_clock: advanceClock,
} satisfies { [Kind in FaultKind]: z.ZodType<FaultParameters[Kind]> }

export const FAULT_KINDS = Object.keys(FAULT_SCHEMAS) as FaultKind[]
