import { applyDueEvents } from '../../state/account-events.ts'
import { defineFault } from './fault.ts'

export const advanceClock = defineFault({
  parameters: ({ union, strict, duration }) =>
    union([duration.transform((by) => ({ by })), strict({ by: duration.describe('How far.') })]),
  description: 'How far the clock of the environment moves; what falls due is applied.',
  sentence: ({ by }) => `moves the clock on by ${by / 1000} s`,
  phase: 'model',
  apply: ({ environment, request }, { by }) => {
    environment.clock.advance(by)
    applyDueEvents(environment, request.trace)
  },
})
