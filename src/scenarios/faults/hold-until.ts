import type { BarrierTerms } from '../barrier.ts'
import { defineFault } from './fault.ts'

const MAX_WITHIN = 60_000
const MAX_REQUESTS = 1000

/** A barrier: requests that come one after the other meet, as they do under load. */
export const holdUntil = defineFault({
  parameters: ({ strict, wholeNumber, waitUpTo, acceptedBy, withRule }) =>
    withRule(
      strict({
        requests: wholeNumber(2, MAX_REQUESTS).describe('How many requests have to be there.'),
        within: waitUpTo(MAX_WITHIN).describe('The longest wait, in real time. Then those that are there go on.'),
        release: acceptedBy<BarrierTerms['release']>(
          (value) => value === 'arrival' || value === 'reverse',
          'arrival or reverse',
        )
          .default('arrival')
          .describe('In which order they go on: that of their arrival, or the reverse.')
          .meta({ type: 'string', enum: ['arrival', 'reverse'] }),
      }),
      ({ within = 1 }, report) => {
        if (within < 1) report(['within'], { allowed: 'at least 1 ms' })
      },
    ),
  description:
    'Requests wait until so many are there, once for each start of the scenario. Then they go on one by one, each when the one before has been answered.',
  sentence: ({ requests, within, release }) =>
    `waits until ${requests} requests are there or ${within} ms are over${release === 'reverse' ? ', and goes on in the reverse order' : ''}`,
  phase: 'barrier',
  terms: (parameters) => parameters,
})
