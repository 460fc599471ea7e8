import type { AccountStatus } from '../domain/account.ts'
import { LIFECYCLE_EVENTS, LIFECYCLE_STATES, type LifecycleState, MOVES } from '../domain/lifecycle.ts'

const MIDDLES: { readonly [State in LifecycleState]: readonly [x: number, y: number] } = {
  none: [10, 110],
  PENDING_AUTH: [112, 26],
  PENDING_VERIFICATION: [112, 194],
  ACTIVE: [245, 110],
  EXPIRED: [400, 26],
  DISCONNECTED: [400, 194],
}
const [WIDTH, HEIGHT] = [148, 30]

/** The lifecycle as a diagram. The current state and the moves out of it are highlighted. */
export function LifecyclePicture({ status }: Readonly<{ status: AccountStatus }>) {
  const arrows = new Map(
    MOVES.filter(({ from, to }) => from !== to && to !== 'none').map((move) => [`${move.from} ${move.to}`, move]),
  )
  const away = MOVES.filter(({ from, to }) => from === status && to !== status)
  const targets = [...new Set(away.map(({ to }) => to))]
  return (
    <figure class="lifecycle">
      <svg viewBox="0 0 480 220" role="img" aria-label={`The account is ${status}`}>
        {[...arrows.values()].map(({ from, to }) => (
          <Arrow key={`${from} ${to}`} from={from} to={to} isLit={from === status} />
        ))}
        {LIFECYCLE_STATES.map((state) => {
          const [x, y] = MIDDLES[state]
          return state === 'none' ? (
            <circle key={state} cx={x} cy={y} r={7} class="start" />
          ) : (
            <g key={state} class={state === status ? 'state lit' : 'state'}>
              <rect x={x - WIDTH / 2} y={y - HEIGHT / 2} width={WIDTH} height={HEIGHT} rx={6} />
              <text x={x} y={y + 4}>
                {state}
              </text>
            </g>
          )
        })}
      </svg>
      <figcaption>
        <details>
          <summary class="quiet">Transitions from {status}</summary>
          <ul class="plain moves">
            {targets.map((to) => (
              <li key={to}>
                <strong>{to === 'none' ? 'gone' : to}</strong>{' '}
                <span class="quiet">
                  {away
                    .filter((move) => move.to === to)
                    .map(({ event }) => LIFECYCLE_EVENTS[event])
                    .join('; ')}
                </span>
              </li>
            ))}
          </ul>
        </details>
      </figcaption>
    </figure>
  )
}

/** A curved arrow, so that the arrows of both directions between two states are visible. */
function Arrow({ from, to, isLit }: Readonly<{ from: LifecycleState; to: LifecycleState; isLit: boolean }>) {
  const [x1, y1] = MIDDLES[from]
  const [x2, y2] = edge(to, from)
  const [dx, dy] = [x2 - x1, y2 - y1]
  const length = Math.hypot(dx, dy)
  const [cx, cy] = [(x1 + x2) / 2 - (dy / length) * 14, (y1 + y2) / 2 + (dx / length) * 14]
  const angle = (Math.atan2(y2 - cy, x2 - cx) * 180) / Math.PI
  return (
    <g class={isLit ? 'arrow-line lit' : 'arrow-line'}>
      <path d={`M${x1} ${y1}Q${cx} ${cy} ${x2} ${y2}`} />
      <path class="head" d="M-7 -4L0 0L-7 4" transform={`translate(${x2} ${y2}) rotate(${angle})`} />
    </g>
  )
}

/** The point where a line from the centre of `from` meets the box of `to`. */
function edge(to: LifecycleState, from: LifecycleState): [x: number, y: number] {
  const [x, y] = MIDDLES[to]
  const [fromX, fromY] = MIDDLES[from]
  const [dx, dy] = [fromX - x, fromY - y]
  const scale = Math.min((WIDTH / 2 + 3) / Math.abs(dx || 1e-9), (HEIGHT / 2 + 3) / Math.abs(dy || 1e-9))
  return [x + dx * scale, y + dy * scale]
}
