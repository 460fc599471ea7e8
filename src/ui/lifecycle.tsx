import type { ComponentChildren } from 'preact'
import type { AccountStatus } from '../domain/account.ts'
import { LIFECYCLE_EVENTS, MOVES } from '../domain/lifecycle.ts'
import { wordsOf } from './format.ts'

const TONES: { readonly [Status in AccountStatus]: string } = {
  ACTIVE: 'success',
  EXPIRED: 'warning',
  DISCONNECTED: 'error',
  PENDING_AUTH: 'info',
  PENDING_VERIFICATION: 'info',
}

export function State({ status, tone = TONES[status] }: Readonly<{ status: AccountStatus; tone?: string }>) {
  return <span class={`state ${tone}`}>{status}</span>
}

/** The state of an account with an arrow to each next state, whose label has the events that lead there. */
export function LifecyclePicture({
  status,
  children,
}: Readonly<{ status: AccountStatus; children: ComponentChildren }>) {
  const away = MOVES.filter(({ from, to }) => from === status && to !== status)
  const targets = [...new Set(away.map(({ to }) => to))]
  return (
    <div class="lifecycle">
      {children}
      <ul aria-label={`Next states after ${status}`}>
        {targets.map((to) => (
          <li key={to}>
            <span class="arrow">
              {away
                .filter((move) => move.to === to)
                .map(({ event }, at) => (
                  <span key={event} title={LIFECYCLE_EVENTS[event]}>
                    {at > 0 && ', '}
                    {wordsOf(event)}
                  </span>
                ))}
            </span>
            {to === 'none' ? <span class="state">gone</span> : <State status={to} />}
          </li>
        ))}
      </ul>
    </div>
  )
}
