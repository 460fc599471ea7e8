import { useState } from 'preact/hooks'
import { call, type Schemas } from './api.ts'
import { dayOf, distanceOf, momentOf, timeOf } from './format.ts'
import { clockFrozen, clockNow, realNow, showClock } from './live.ts'
import { Button, Empty, Form, Problem, Small, Tag, TextField } from './parts.tsx'
import { linkTo } from './hash-route.ts'
import { inEnvironment, useAction, useApi } from './use-api.ts'

type DueItem = Schemas['DueItem']

const STEPS = [
  ['1m', '+1 min'],
  ['1h', '+1 h'],
  ['1d', '+1 d'],
] as const

export function ClockView() {
  const { busy, error, run } = useAction()
  const due = useApi<Schemas['Due']>('/clock/due')
  const { value: now } = clockNow
  const frozen = clockFrozen.value
  const change = (body: object): void =>
    run(async () => {
      showClock(await call<Schemas['Clock']>('PUT', '/clock', { query: inEnvironment(), body }))
      due.reload()
    })
  return (
    <div class="page">
      <div class="wrap clock-face">
        <div>
          <p class="clock-time mono">{now === undefined ? '' : timeOf(now).slice(0, 8)}</p>
          <p class="quiet">
            {now === undefined ? '' : dayOf(now)} UTC{' '}
            {frozen ? <Tag tone="info">frozen</Tag> : <Tag tone="success">running</Tag>}
          </p>
          <RealTime />
        </div>
        <div class="column clock-buttons">
          <div class="buttons">
            <Button
              label={frozen ? 'Run' : 'Freeze'}
              class="primary"
              disabled={busy}
              onClick={() => change({ frozen: !frozen })}
            />
            {STEPS.map(([advance, text]) => (
              <Button key={advance} label={text} disabled={busy} onClick={() => change({ advance })} />
            ))}
          </div>
          <SetClock busy={busy} change={change} />
          <Problem error={error} />
        </div>
      </div>
      <h2>Due next</h2>
      <Problem error={due.error} />
      {due.value && due.value.due.length === 0 ? (
        <Empty title="No event is due.">
          <p>Access tokens, links, auth requests and bearer tokens are listed here once there are some.</p>
        </Empty>
      ) : (
        <DueList due={due.value?.due ?? []} busy={busy} jump={(at) => change({ now: at })} />
      )}
    </div>
  )
}

function RealTime() {
  const { value: real } = realNow
  return (
    <p class="quiet">
      real time <span class="mono">{momentOf(real)}</span>
    </p>
  )
}

function SetClock({ busy, change }: Readonly<{ busy: boolean; change: (body: object) => void }>) {
  const [text, setText] = useState('')
  return (
    <Form class="buttons" submit={() => change({ now: new Date(`${text}Z`).toISOString() })}>
      <TextField label="Set to (UTC)" wrap="choice" type="datetime-local" step={1} value={text} onText={setText} />
      <button disabled={busy || text === ''}>Set</button>
    </Form>
  )
}

function placeOf({ kind, id }: DueItem): string | undefined {
  if (kind === 'magic_link') return linkTo('links')
  return kind === 'bearer_token' ? undefined : linkTo('accounts', id)
}

function DueList({
  due,
  busy,
  jump,
}: Readonly<{ due: readonly DueItem[]; busy: boolean; jump: (at: string) => void }>) {
  const { value: now = 0 } = clockNow
  return (
    <ol class="due">
      {due.map((item, index) => {
        const href = placeOf(item)
        const isNewDay = dayOf(item.at) !== dayOf(due[index - 1]?.at ?? now)
        return (
          <li key={`${item.kind} ${item.id} ${item.at}`} class="row wrap">
            <span class="column due-when">
              <span class="number">{distanceOf(Date.parse(item.at) - now)}</span>
              <span class="quiet mono">{isNewDay ? momentOf(item.at) : timeOf(item.at).slice(0, 8)}</span>
            </span>
            <span class="due-what">
              {href === undefined ? <strong>{item.subject}</strong> : <a href={href}>{item.subject}</a>}: {item.effect}
            </span>
            <Small
              label="Jump there"
              disabled={busy}
              aria-label={`Jump there: ${item.subject}, ${item.effect}`}
              onClick={() => jump(item.at)}
            />
          </li>
        )
      })}
    </ol>
  )
}
