import { defineFault, faultWithoutParameters, type WebhookPlan } from './fault.ts'

/** A fault without parameters in how an event is sent. */
function webhookFault(description: string, does: string, plan: Partial<WebhookPlan>) {
  return faultWithoutParameters(description, does, { phase: 'webhook', plan: () => plan })
}

export const drop = webhookFault('The attempt is lost on the way, and the next one comes by the schedule.', 'is lost', {
  lost: true,
})

export const duplicate = webhookFault('The event is sent twice, with the same id.', 'sends the event twice', {
  twice: true,
})

export const badSignature = webhookFault('The signature is made with another key.', 'signs with another key', {
  signs: 'none',
})

export const oldSecret = webhookFault(
  "The signature is made with the last of the webhook's secrets alone.",
  'signs with the oldest secret alone',
  { signs: 'oldest' },
)

export const staleTimestamp = webhookFault(
  'The timestamp is ten minutes old.',
  'sends a timestamp of ten minutes ago',
  {
    stale: true,
  },
)

/** Without later events it goes on after some seconds. */
export const reorder = defineFault({
  parameters: ({ union, strict, wholeNumber }) => {
    const events = wholeNumber(2, 100)
    return union([
      events.transform((count) => ({ events: count })),
      strict({ events: events.describe('How many events change places.') }),
    ])
  },
  description:
    'The event comes last of so many of its account, 2 to 100; alone after 5 seconds of real time, when fewer come.',
  sentence: ({ events }) =>
    `sends the event after ${events === 2 ? 'the next one' : `the next ${events - 1}`} of its account`,
  phase: 'webhook',
  plan: ({ events }) => ({ after: events - 1 }),
})
