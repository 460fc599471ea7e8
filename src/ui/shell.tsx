import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { plural } from '../domain/text.ts'
import { keepToken, tokenProblem } from './api.ts'
import { dayOf, timeOf } from './format.ts'
import { AccountsView } from './accounts.tsx'
import { ClockView } from './clock.tsx'
import { ContractView } from './contract.tsx'
import { DataView } from './data.tsx'
import { listen, startKeyboard } from './keyboard.ts'
import {
  clockFrozen,
  clockNow,
  type Connection,
  connection,
  environments,
  problem,
  reconnect,
  timeline,
} from './live.ts'
import { LinksView } from './links.tsx'
import { Choice, Dialog, Empty, Form, Problem, Small, TextField } from './parts.tsx'
import { ALL, environment, linkTo, route, type View, VIEW_NAMES, VIEWS, hashOf } from './hash-route.ts'
import { ScenariosView } from './scenarios.tsx'
import { TimelineView } from './timeline.tsx'

const CONTENT: Readonly<Record<View, ComponentType>> = {
  timeline: TimelineView,
  accounts: AccountsView,
  links: LinksView,
  clock: ClockView,
  scenarios: ScenariosView,
  contract: ContractView,
  data: DataView,
}

export function Shell() {
  const { view } = route.value
  const [isHelpOpen, setHelpOpen] = useState(false)
  useEffect(startKeyboard, [])
  useEffect(() => listen({ '?': () => setHelpOpen(true) }), [])
  useEffect(() => {
    document.title = `${VIEWS[view].title} · ${environment.value === ALL ? 'all environments' : environment.value} · toolmock`
  })
  // In a narrow window the list of views can be wider than the window.
  useEffect(
    () => document.querySelector('.views [aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' }),
    [view],
  )
  // After a key or a link changes the view, the new view takes the focus.
  const main = useRef<HTMLElement>(null)
  const shown = useRef(view)
  useEffect(() => {
    if (shown.current !== view && route.value.id === '') main.current?.focus({ preventScroll: true })
    shown.current = view
  }, [view])
  const Content = CONTENT[view]
  return (
    <div class="shell">
      <header class="row bar">
        <a class="brand" href={linkTo('timeline')}>
          toolmock
        </a>
        <EnvironmentSwitcher />
        <Clock />
        <span class="space" />
        <ConnectionState />
        <Small label="?" aria-label="Keyboard shortcuts" onClick={() => setHelpOpen(true)} />
      </header>
      <nav class="column views" aria-label="Views">
        {VIEW_NAMES.map((each) => (
          <a key={each} href={linkTo(each)} aria-current={each === view ? 'page' : undefined}>
            {VIEWS[each].title}
          </a>
        ))}
      </nav>
      <main ref={main} class={`view ${view}`} tabIndex={-1}>
        <h1 class="visually-hidden">{VIEWS[view].title}</h1>
        {problem.value && problem.value.status !== 401 ? <Refused /> : <Content key={environment.value} />}
      </main>
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
      {tokenProblem.value !== undefined && <TokenDialog found={tokenProblem.value} />}
    </div>
  )
}

/** Selects the environment. The view stays; its open item is closed. */
function EnvironmentSwitcher() {
  const { view } = route.value
  const current = environment.value
  const known = environments.value
  const isKnown = current === ALL || known.some(({ name }) => name === current)
  const shown = isKnown ? known : [{ name: current, label: null }, ...known]
  const all = view === 'timeline' || view === 'contract' ? [[ALL, 'all environments'] as const] : []
  const named = shown.map(({ name, label }) => [name, label === null ? name : `${name}: ${label}`] as const)
  return (
    <Choice
      label="Environment"
      wrap="choice environment"
      value={current}
      options={[...all, ...named]}
      onChange={(value) => {
        location.hash = hashOf({ view, id: '', parameters: { environment: value === 'default' ? '' : value } })
      }}
    />
  )
}

function Clock() {
  const { value: now } = clockNow
  if (now === undefined) return null
  return (
    <a class="clock-now" href={linkTo('clock')} title="The environment's clock">
      <span class="quiet wide">{dayOf(now)}</span> <span class="mono">{timeOf(now).slice(0, 8)}</span>
      {clockFrozen.value && <span class="tag info">frozen</span>}
    </a>
  )
}

const CONNECTION_TEXTS: Readonly<Record<Connection, string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'not connected, trying again',
  refused: 'not connected',
}

function ConnectionState() {
  const skipped = timeline.skipped.value
  const state = connection.value
  return (
    <span class="connection" role="status">
      {state === 'live' && skipped > 0 ? (
        <Small label={`${plural(skipped, 'request')} not shown, load them`} class="warning" onClick={reconnect} />
      ) : (
        <span class={`row dot ${state}`}>{CONNECTION_TEXTS[state]}</span>
      )}
    </span>
  )
}

/** Takes the place of the view when the server refuses the stream, for example because the environment does not exist. */
function Refused() {
  return (
    <Empty title={problem.value?.message ?? ''}>
      <p>
        <a href="#/timeline">Go to the environment default</a>
      </p>
    </Empty>
  )
}

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['/', 'search'],
  ['j', 'next one'],
  ['k', 'previous one'],
  ['Enter', 'open it'],
  ['Escape', 'close it, or leave a field'],
  ['p', 'pause or resume the timeline'],
  ...Object.values(VIEWS).map(({ key, title }) => [`g ${key}`, `go to ${title}`] as const),
  ['?', 'these shortcuts'],
]

function Help({ onClose }: Readonly<{ onClose: () => void }>) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="column keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

function TokenDialog({ found }: Readonly<{ found: string }>) {
  const [token, setToken] = useState('')
  return (
    <Dialog title="This server asks for its admin token" onClose={() => undefined}>
      <Form
        submit={() => {
          keepToken(token)
          reconnect()
        }}
      >
        <p>It is the value of --admin-token. It is kept in this tab, until the tab is closed.</p>
        <TextField label="Admin token" type="password" value={token} aria-invalid={found !== ''} onText={setToken} />
        <Problem error={found === '' ? undefined : { message: found }} />
        <button class="primary" disabled={token === ''}>
          Use it
        </button>
      </Form>
    </Dialog>
  )
}
