import { AUTHORIZATION_TYPES } from '../domain/authorization-type.ts'
import { isHttpUrl } from '../domain/base-url.ts'
import { isErrorCode } from '../domain/errors.ts'
import { isJsonObject } from '../domain/json.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { plural, quote } from '../domain/text.ts'
import { type VocabularyWords, WIRE_WORD } from '../domain/vocabulary.ts'
import {
  EVENT_TYPES,
  isWebhookSecret,
  SECRET_RULE,
  WEBHOOK_NAME,
  WEBHOOK_NAME_RULE,
  WEBHOOK_URL_RULE,
} from '../domain/webhook.ts'
import { z } from 'zod'
import { acceptedBy, jsonObject, repeatedNames, type Report, strict, textMap, uniqueList, withRule } from './parts.ts'
import { problemValue } from './problems.ts'

/** Words of the document and those on the wire in their place (G48); which words there are is in `seed-checks.ts`. */
export const vocabulary = withRule(
  acceptedBy<VocabularyWords>(isJsonObject, 'an object: words of the document, and those on the wire').meta({
    type: 'object',
    additionalProperties: { type: 'string', pattern: WIRE_WORD.source },
  }),
  (words, report) => {
    const first = new Map<string, string>()
    for (const [word, wire] of Object.entries(words)) {
      if (typeof wire !== 'string' || !WIRE_WORD.test(wire)) {
        report([word], { allowed: 'one or more letters, digits and underscores' })
        continue
      }
      const before = first.get(wire)
      if (before === undefined) first.set(wire, word)
      else if (!isErrorCode(before) || !isErrorCode(word))
        report([word], {
          found: `${problemValue(wire)}, which ${before} has already`,
          allowed: 'another word for each',
        })
    }
  },
)

/** The bounds of part 8. Characters are counted as JSON Schema counts them. */
export const metadata = withRule(textMap, (pairs, report) => {
  const count = Object.keys(pairs).length
  if (count > 20) report([], { found: `an object of ${plural(count, 'pair')}`, allowed: 'at most 20 pairs' })
  for (const [key, value = ''] of Object.entries(pairs)) {
    const [keyLength, length] = [Array.from(key).length, Array.from(value).length]
    if (keyLength < 3 || keyLength > 25) {
      const mistake = `a key of ${plural(keyLength, 'character')}`
      report([key], { found: mistake, allowed: 'keys of 3 to 25 characters', atKey: true })
    }
    if (length < 1 || length > 256) {
      report([key], { found: `a value of ${plural(length, 'character')}`, allowed: 'values of 1 to 256 characters' })
    }
  }
}).meta({
  type: 'object',
  maxProperties: 20,
  propertyNames: { minLength: 3, maxLength: 25 },
  additionalProperties: { type: ['string', 'number', 'boolean'], minLength: 1, maxLength: 256 },
})

const PATTERN_TYPES = [...AUTHORIZATION_TYPES, 'BEARER']

/** An item of `auth_patterns`: free, but for the type of the accounts (G38). */
export const authPattern = withRule(jsonObject, ({ type = null }, report) => {
  if (type === null || (typeof type === 'string' && PATTERN_TYPES.includes(type))) return
  const hint = typeof type === 'string' ? didYouMean(type, PATTERN_TYPES) : ''
  report(['type'], { found: `${problemValue(type)}${hint}`, allowed: PATTERN_TYPES.join(', ') })
})

// The message of a refusal shows what was found, and most of a wrong secret is a secret.
const webhookSecret = acceptedBy<string>(
  (value) => typeof value === 'string' && isWebhookSecret(value),
  SECRET_RULE,
).meta({ type: 'string', pattern: '^whsec_' })

/** Where events are sent (G68). */
const webhookTarget = {
  url: acceptedBy<string>((value) => typeof value === 'string' && isHttpUrl(value), WEBHOOK_URL_RULE)
    .meta({ type: 'string', format: 'uri' })
    .describe('Where events are sent: a server on loopback, or any with --allow-outbound.'),
  secret: webhookSecret.exactOptional().describe('What events are signed with: whsec_ and a key in base64.'),
  secrets: z
    .array(webhookSecret)
    .min(1)
    .max(10)
    .exactOptional()
    .describe('In place of secret, for a rotation: each signs, the newest first.'),
  types: withRule(z.array(z.enum(EVENT_TYPES).meta({ title: 'type of event' })).min(1), (types, report) => {
    for (const { name, index } of repeatedNames(types))
      report([index], { found: `${quote(name)} for the second time`, allowed: 'each type once' })
  })
    .optional()
    .describe('The events that it gets. Absent: all.'),
}

function checkSecrets(
  { secret, secrets }: { secret?: string; secrets?: readonly string[] },
  report: Report,
  wrong: ReadonlySet<unknown>,
): void {
  if ((secret === undefined) !== (secrets === undefined) || wrong.has('secret') || wrong.has('secrets')) return
  const mistake = secret === undefined ? 'without secret and secrets' : 'with both secret and secrets'
  report([], { found: mistake, allowed: 'exactly one of secret and secrets' })
}

export const webhookSchema = withRule(strict(webhookTarget), checkSecrets)

export const webhookList = uniqueList(
  withRule(
    strict({
      name: z.string().regex(WEBHOOK_NAME, { error: WEBHOOK_NAME_RULE }).describe('Its name in requests and lists.'),
      ...webhookTarget,
    }),
    checkSecrets,
  ).transform(({ name, types = [...EVENT_TYPES], ...webhook }) => ({ id: name, ...webhook, types })),
  'name',
)
