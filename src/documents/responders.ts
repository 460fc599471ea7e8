import { z } from 'zod'
import { METHODS } from '../domain/path-pattern.ts'
import type { Responder, ResponderAnswer, ResponderMatch } from '../domain/connector.ts'
import { present } from '../domain/json.ts'
import { dottedPaths } from '../domain/value-match.ts'
import {
  anyJson,
  headerMap,
  jsonObject,
  nonEmpty,
  type Report,
  strict,
  text,
  textMap,
  wholeNumber,
  withRule,
} from '../schema/parts.ts'
import { answerAfter, collections, steps, toStep } from './collections.ts'

/*
 * What answers requests in a file: responders, and the collections that their steps act on. Nothing here depends on the other
 * keys of a connector.
 */

export { checkCollections as checkResponders } from './collections.ts'

/** `{name}` captures a whole part: inside of one it would be taken literally, which is not what an author means. */
const pathPattern = z
  .string()
  .regex(/^(?:\/(?:\{[A-Za-z_]\w*\}|[^/{}]*))+$/, {
    error: 'a path that starts with /, whose parts are {name}, or text in which * matches anything',
  })
  .meta({ title: 'path' })

const answer = strict({
  status: wholeNumber(200, 599)
    .optional()
    .describe('Absent: 200; after steps that end with create 201, with delete or refuse 204.'),
  headers: headerMap.prefault({}).describe('Templates by header, over what body sees.'),
  body: anyJson
    .optional()
    .describe(
      'JSON whose texts are templates over request, account and person, and the results of steps. Absent: the result of the last step, else no body.',
    ),
})

const responderShape = {
  on: strict({
    method: z.enum(METHODS).optional().describe('Absent: any method.'),
    path: pathPattern
      .optional()
      .describe(
        'Here * matches any text inside one part, and {name} captures one part as request.params.name. Absent: any path.',
      ),
    query: textMap.optional().describe('Values by parameter.'),
    headers: textMap.optional().describe('Values by header.'),
    body: jsonObject.optional().describe('Values by dotted path into the JSON body; nested objects count as paths.'),
    account: strict({
      id: text.optional().describe('Its id.'),
      identifier: text.optional().describe('Its identifier.'),
      organization_id: text.optional().describe('Its organization.'),
      user_id: text.optional().describe('Its user.'),
      connector: text.optional().describe('Its connector.'),
    })
      .optional()
      .describe('Values by field of the account that calls.'),
  }).describe('Which requests it answers; in its texts * matches any text.'),
  steps: steps
    .optional()
    .describe(
      'What it does with collections before it answers, in one transaction. When one fails, nothing is changed.',
    ),
  respond: answer.optional().describe('The answer to every such request.'),
  sequence: z
    .array(answer)
    .min(1)
    .optional()
    .describe(
      'In place of respond: the answers to the first such request, the second, and so on, counted in each environment.',
    ),
  after_last: z
    .enum(['repeat', 'restart', 'next'])
    .optional()
    .describe(
      'After the last of a sequence: that one again, the first again, or the next responder that matches. Absent: repeat.',
    ),
}

type ParsedResponder = z.output<z.ZodObject<typeof responderShape>>

function checkResponder(
  { respond, sequence, steps, after_last }: Partial<ParsedResponder>,
  report: Report,
  wrong: ReadonlySet<unknown>,
): void {
  if (wrong.has('respond') || wrong.has('sequence') || wrong.has('steps')) return
  const both = respond !== undefined && sequence !== undefined
  const neither = respond === undefined && sequence === undefined && steps === undefined
  if (both || neither) {
    const found = both ? 'with both respond and sequence' : 'without respond and sequence'
    report([], { found, allowed: 'exactly one of respond and sequence, or steps' })
  }
  if (steps !== undefined && sequence !== undefined) {
    report(['sequence'], { found: 'set beside steps', allowed: 'respond together with steps', atKey: true })
  }
  if (after_last !== undefined && sequence === undefined) {
    const found = 'set without sequence'
    report(['after_last'], { found, allowed: 'after_last together with sequence', atKey: true })
  }
}

const responder = withRule(strict(responderShape), checkResponder)

/** A responder of an extension. */
export const namedResponder = withRule(
  strict({
    name: nonEmpty.describe('A unique name in the file; messages name the responder by it.'),
    ...responderShape,
    body_schema: jsonObject
      .optional()
      .describe('JSON Schema 2020-12 of the body. One that does not fit is refused with 400 before any step.'),
  }),
  (given, report, wrong) => {
    checkResponder(given, report, wrong)
    if (given.on && given.on.path === undefined) report(['on', 'path'], { allowed: 'a path' })
  },
)

/** The keys of a file that say what answers requests. */
export const responderKeys = {
  collections: collections
    .optional()
    .describe(
      'Items that responders create, list, change and delete. A name is a letter, then up to 63 letters, digits and underscores.',
    ),
  responders: z
    .array(responder)
    .default([])
    .describe('What its API answers: the first responder that matches a call. Without one: 404.'),
  error_body: jsonObject
    .optional()
    .describe(
      'The body when a step fails or calls are too many: templates over error (status, code, message), request, account and person.',
    ),
}

/** The responder that a valid document describes. */
export function toResponder(document: ParsedResponder): Responder {
  const on = toMatch(document.on)
  if (document.steps) {
    const steps = document.steps.map(toStep)
    const { status, headers = {}, body } = document.respond ?? {}
    const usual = answerAfter(steps.findLast(({ action }) => action !== 'refuse'))
    const answer = { status: status ?? usual.status, headers, body: body === undefined ? usual.body : body }
    return { on, steps, answers: [answer], after_last: 'repeat' }
  }
  const answers = document.sequence ?? (document.respond ? [document.respond] : [])
  return { on, answers: answers.map(toAnswer), after_last: document.after_last ?? 'repeat' }
}

function toAnswer({ status = 200, headers, body = null }: z.output<typeof answer>): ResponderAnswer {
  return { status, headers, body }
}

function toMatch({ body, account, ...on }: ParsedResponder['on']): ResponderMatch {
  return { ...present(on), ...(body && { body: dottedPaths(body) }), ...(account && { account: present(account) }) }
}
