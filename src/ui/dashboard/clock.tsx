import { useState } from 'preact/hooks'
import { capitalise, plural } from '../../model/domain/text.ts'
import { type Schemas, useApi } from './api.ts'
import { commandOf, Empty, Items, Loading, RowTable, Section, Tag } from './content.tsx'
import { Button, Field, Form, SmallButton } from './controls.tsx'
import { dayOf, distanceOf, momentOf, timeOf } from './format.ts'
import { linkTo } from './hash-route.ts'
import { Icon } from './icons.tsx'
import { changeClock, clockFrozen, clockNow, clockShift, isClockKnown, realNow } from './live.ts'

type DueItem = Schemas['DueItem']

const MAX_GROUPS = 50

export function ClockPage() {
  const due = useApi<Schemas['Due']>('/clock/due', { limit: 1000 })
  const { value: now } = clockNow
  const frozen = clockFrozen.value
  const [moved, setMoved] = useState<Schemas['MovedClock'] | undefined>(undefined)
  const groups = groupsOf(due.value?.due ?? []).slice(0, MAX_GROUPS)
  const change = async (body: Schemas['ClockChange']): Promise<void> => setMoved(await changeClock(body))
  return (
    <div class="column page">
      <div class="row wrap card clock-face">
        <div>
          <p class={`clock-time mono ${clockShift.value === '' ? '' : 'shifted'}`}>
            {now === undefined ? '' : timeOf(now).slice(0, 8)}
          </p>
          <p class="quiet">
            {now === undefined ? '' : dayOf(now)} UTC{' '}
            {!isClockKnown.value ? (
              <Tag tone="warning">stands still, not connected</Tag>
            ) : frozen ? (
              <Tag tone="info">frozen</Tag>
            ) : (
              <Tag tone="success">running</Tag>
            )}
          </p>
          <p class="quiet">
            real time <span class="mono">{momentOf(realNow.value)}</span>
            {clockShift.value !== '' && `, ${clockShift.value}`}
          </p>
        </div>
        <div class="column">
          <div class="buttons">
            <Button label={frozen ? 'Run' : 'Freeze'} class="primary" act={() => change({ frozen: !frozen })} />
            <Button label="+1 min" act={() => change({ advance: '1m' })} />
            <Button label="+1 h" act={() => change({ advance: '1h' })} />
            <Button label="+1 d" act={() => change({ advance: '1d' })} />
          </div>
          {now !== undefined && (
            <div class="buttons" role="group" aria-label="To what is due next">
              {firstOfEachKind(groups).map((item) => (
                <SmallButton
                  key={item.kind}
                  label={nextText(item, now)}
                  title={`${item.subject}: ${item.effect}`}
                  act={() => change({ now: item.at })}
                />
              ))}
            </div>
          )}
          <SetClock change={change} />
        </div>
      </div>
      {moved && <Passed moved={moved} />}
      <Section level={2} title="Due next">
        {now !== undefined && <Axis now={now} groups={groups} jump={(at) => change({ now: at })} />}
        {!due.value && <Loading error={due.error} />}
        {due.value?.due.length === 0 ? (
          <Empty title="No event is due." command={commandOf('clock advance 1h')}>
            <p>
              Access tokens, links, auth requests and bearer tokens are listed here once there are some. The clock moves
              from a shell too:
            </p>
          </Empty>
        ) : (
          due.value && (
            <RowTable
              label="Due next"
              heads={['In', ['At', 'mono'], 'What happens', 'Actions']}
              rows={groups.map(([item, ...others], index) => [
                distanceOf(Date.parse(item.at), now ?? 0),
                dayOf(item.at) === dayOf(groups[index - 1]?.[0].at ?? now ?? 0)
                  ? timeOf(item.at).slice(0, 8)
                  : momentOf(item.at),
                <>
                  <strong>{others.length > 0 && `${others.length + 1} × `}</strong>
                  <Subject item={item} />
                  {others.some(({ subject }) => subject !== item.subject) && ` and ${others.length} more`}:{' '}
                  {item.effect}
                </>,
                <SmallButton
                  label="Jump there"
                  aria-label={`Jump there: ${item.subject}, ${item.effect}`}
                  act={() => change({ now: (others.at(-1) ?? item).at })}
                />,
              ])}
            />
          )
        )}
      </Section>
    </div>
  )
}

/** The clock beside the environment, which leads to its page. */
export function HeaderClock() {
  const { value: now } = clockNow
  if (now === undefined) return null
  const { value: shift } = clockShift
  const shifted = shift === '' ? '' : ` Real time is ${shift}.`
  return (
    <a
      class={`row clock-now ${shift === '' ? '' : 'shifted'}`}
      href={linkTo('clock')}
      title={`The environment's clock.${shifted}`}
    >
      <Icon name="clock" />
      <span class="quiet wide-only">{dayOf(now)}</span> <span class="mono">{timeOf(now).slice(0, 8)}</span>
      {clockFrozen.value && <span>frozen</span>}
      {!isClockKnown.value && <span class="expired">stands still</span>}
    </a>
  )
}

/** Events of one kind that fall due in the same second. */
type DueGroup = readonly [DueItem, ...DueItem[]]

/** What falls due. */
const KINDS: { readonly [Kind in DueItem['kind']]: readonly [what: string, verb: string, past: string] } = {
  account: ['account', 'expires', 'expired'],
  access_token: ['access token', 'expires', 'expired'],
  magic_link: ['link', 'ends', 'ended'],
  auth_request: ['auth request', 'expires', 'expired'],
  bearer_token: ['bearer token', 'expires', 'expired'],
}

function nextText({ kind, at }: DueItem, now: number): string {
  const [what, verb] = KINDS[kind]
  return `${capitalise(what)} ${verb} ${distanceOf(Date.parse(at), now)}`
}

function firstOfEachKind(groups: readonly DueGroup[]): DueItem[] {
  return groups
    .map(([item]) => item)
    .filter(({ kind }, at, items) => items.findIndex((each) => each.kind === kind) === at)
}

/** Less of the axis than this between two marks leaves no room for the text of the second. */
const LABEL_WIDTH = 0.11

/** The events on a line from now on, whose scale is logarithmic: seconds and months are on it at once. A click goes there. */
function Axis({
  now,
  groups,
  jump,
}: Readonly<{ now: number; groups: readonly DueGroup[]; jump: (at: string) => unknown }>) {
  const scale = (at: string): number => Math.log1p(Math.max(0, Date.parse(at) - now) / 60_000)
  const last = groups.at(-1)
  if (!last) return null
  const end = scale(last[0].at) || 1
  let labelled = -LABEL_WIDTH
  return (
    <div class="axis" role="group" aria-label="Due next, on a line">
      <span class="axis-now">now</span>
      {groups.map(([item, ...others]) => {
        const place = 0.06 + 0.86 * (scale(item.at) / end)
        const hasRoom = place - labelled >= LABEL_WIDTH
        if (hasRoom) labelled = place
        const text = distanceOf(Date.parse(item.at), now).replace(/^in /, '+')
        return (
          <Button
            key={`${item.at} ${item.kind} ${item.id}`}
            label={hasRoom && <small>{text}</small>}
            class="axis-mark"
            style={{ left: `${place * 100}%` }}
            title={`${text}: ${others.length > 0 ? `${others.length + 1} × ` : ''}${item.subject}, ${item.effect}`}
            aria-label={`${text}: ${item.subject}, ${item.effect}`}
            act={() => jump((others.at(-1) ?? item).at)}
          />
        )
      })}
    </div>
  )
}

function groupsOf(due: readonly DueItem[]): DueGroup[] {
  const groups = Map.groupBy(due, ({ at, kind, effect }) => `${at.slice(0, 19)} ${kind} ${effect}`)
  return [...groups.values()] as unknown as DueGroup[]
}

function Passed({ moved: { before, now, passed, passed_counts } }: Readonly<{ moved: Schemas['MovedClock'] }>) {
  const counts = (Object.entries(passed_counts) as [DueItem['kind'], number][]).map(([kind, count]) => {
    const [what, , past] = KINDS[kind]
    return `${plural(count, what)} ${past}`
  })
  const total = Object.values(passed_counts).reduce<number>((sum, count) => sum + count, 0)
  return (
    <div class="column card" role="status">
      <p>
        From <span class="mono">{momentOf(before)}</span> to <span class="mono">{momentOf(now)}</span>:{' '}
        <strong>{counts.length > 0 ? counts.join(', ') : 'nothing fell due'}</strong>
        {now < before && '. What fell due before stays as it is'}.
      </p>
      {passed.length > 0 && (
        <Items
          items={[
            ...passed.map((item) => (
              <>
                <span class="mono quiet">{momentOf(item.at)}</span> <Subject item={item} />: {item.effect}
              </>
            )),
            ...(total > passed.length ? [<span class="quiet">and {total - passed.length} more</span>] : []),
          ]}
        />
      )}
    </div>
  )
}

function SetClock({ change }: Readonly<{ change: (body: Schemas['ClockChange']) => unknown }>) {
  const [text, setText] = useState('')
  return (
    <Form inline label="Set" disabled={text === ''} submit={() => change({ now: new Date(`${text}Z`).toISOString() })}>
      <Field label="Set to (UTC)" wrap="choice" type="datetime-local" step={1} value={text} onInput={setText} />
    </Form>
  )
}

/** Whom an event is about, with a link to the account or to the links. */
function Subject({ item: { kind, id, subject } }: Readonly<{ item: DueItem }>) {
  if (kind === 'bearer_token') return <strong>{subject}</strong>
  return <a href={kind === 'magic_link' ? linkTo('links') : linkTo('accounts', id)}>{subject}</a>
}
