import type { AccountStatus } from '../domain/account.ts'
import { LIFECYCLE_EVENTS, MOVES } from '../domain/lifecycle.ts'
import { wordsOf } from './format.ts'

/** The state of an account with an arrow to each next state, whose label has the events that lead there. */
export function LifecyclePicture({ status }: Readonly<{ status: AccountStatus }>) {
  const away = MOVES.filter(({ from, to }) => from === status && to !== status)
  const targets = [...new Set(away.map(({ to }) => to))]
  return (
    <div class="lifecycle">
      <span class="state-box lit">{status}</span>
      <ul aria-label={`Next states after ${status}`}>
        {targets.map((to) => (
          <li key={to}>
            <span class="edge">
              {away
                .filter((move) => move.to === to)
                .map(({ event }, at) => (
                  <span key={event} title={LIFECYCLE_EVENTS[event]}>
                    {at > 0 && ', '}
                    {wordsOf(event)}
                  </span>
                ))}
            </span>
            <span class="state-box">{to === 'none' ? 'gone' : to}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
