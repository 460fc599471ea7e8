import { isViolation } from '../../model/domain/finding.ts'
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { capitalise, plural, withVisibleDirections } from '../../model/domain/text.ts'
import { AccountsView } from './accounts.tsx'
import { allActions, dialog } from './actions.ts'
import { keepToken, type Schemas, tokenProblem, useApi } from './api.ts'
import { ClockPage, HeaderClock } from './clock.tsx'
import { Empty, Facts } from './content.tsx'
import { Dialog, Field, Form, Notice, ProblemNote, SmallButton } from './controls.tsx'
import { ALL, enter, environment, linkTo, route, type View, VIEW_NAMES, VIEWS } from './hash-route.ts'
import { Icon } from './icons.tsx'
import { listen, PALETTE_KEY, startKeyboard } from './keyboard.ts'
import { LinksView } from './links.tsx'
import { openItem } from './list-view.tsx'
import { type Connection, connectionState, environmentOptions, problem, reconnect, timeline } from './live.ts'
import { OnDemand } from './on-demand.tsx'
import { Palette } from './palette.tsx'
import { ScenariosView } from './scenarios.tsx'
import { TimelineView } from './timeline.tsx'

const CONTENT: Readonly<Record<View, ComponentType>> = {
  timeline: TimelineView,
  accounts: AccountsView,
  links: LinksView,
  clock: ClockPage,
  scenarios: ScenariosView,
  contract: () => <OnDemand>{({ ContractView }) => <ContractView />}</OnDemand>,
  runs: () => <OnDemand>{({ RunsView }) => <RunsView />}</OnDemand>,
  webhooks: () => <OnDemand>{({ WebhooksView }) => <WebhooksView />}</OnDemand>,
  connectors: () => <OnDemand>{({ ConnectorsView }) => <ConnectorsView />}</OnDemand>,
  collections: () => <OnDemand>{({ CollectionsView }) => <CollectionsView />}</OnDemand>,
  snapshots: () => <OnDemand>{({ SnapshotsView }) => <SnapshotsView />}</OnDemand>,
}

export function Shell() {
  const { view, unknown } = route.value
  useEffect(startKeyboard, [])
  useEffect(() => listen({ '?': () => openDialog('help'), [PALETTE_KEY]: () => openDialog('palette') }), [])
  useEffect(() => {
    const name = environment.value === ALL ? 'all environments' : environment.value
    const title = unknown === undefined ? VIEWS[view].title : 'No such view'
    document.title = withVisibleDirections([openItem.value, title, name, 'toolmock'].filter(Boolean).join(' · '))
  }, [openItem.value, unknown, view, environment.value])
  const counts = useCounts()
  // In a narrow window the list of views can be wider than the window. Counts make it wider.
  useEffect(
    () => document.querySelector('.views [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' }),
    [view, JSON.stringify(counts)],
  )
  // After a key or a link changes the view, the new view takes the focus.
  const main = useRef<HTMLElement>(null)
  const lastView = useRef(view)
  useEffect(() => {
    if (lastView.current !== view && route.value.id === '') main.current?.focus({ preventScroll: true })
    lastView.current = view
  }, [view])
  const Content = CONTENT[view]
  // The server refuses the stream, for example because the environment does not exist.
  const { value: { status, message } = { status: 401, message: '' } } = problem
  const refused = unknown !== undefined ? `There is no view named ${unknown}.` : status === 401 ? undefined : message
  return (
    <div class="shell">
      <header class="row bar">
        <a class="row brand" href={linkTo('timeline')}>
          <img src="ui/icon.svg" alt="" width="20" height="20" />
          toolmock
        </a>
        <EnvironmentSwitcher />
        <HeaderClock />
        <span class="space" />
        <ConnectionState />
        <SmallButton
          label={
            <>
              <Icon name="search" />
              <span class="wide-only">
                Go to <kbd>Ctrl K</kbd>
              </span>
            </>
          }
          title="Go to, or do"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => openDialog('palette')}
        />
        <SmallButton label="?" aria-label="Keyboard shortcuts" onClick={() => openDialog('help')} />
      </header>
      <nav class="column views" aria-label="Views">
        {VIEW_NAMES.map((each) => (
          <a
            key={each}
            class="row"
            href={linkTo(each)}
            aria-current={each === view && unknown === undefined ? 'page' : undefined}
          >
            <Icon name={each} />
            {VIEWS[each].title}
            <Count count={counts[each]} />
          </a>
        ))}
      </nav>
      <main ref={main} class="view" tabIndex={-1}>
        <h1 class="visually-hidden">{VIEWS[view].title}</h1>
        {refused === undefined ? (
          <Content key={environment.value} />
        ) : (
          <Empty title={capitalise(refused)}>
            <p>
              <a href="#/timeline">Go to the timeline of the environment default</a>
            </p>
          </Empty>
        )}
      </main>
      {dialog.value === 'palette' && <Palette />}
      <Notice />
      {dialog.value === 'help' && <Help />}
      {tokenProblem.value !== undefined && <TokenDialog found={tokenProblem.value} />}
    </div>
  )
}

function openDialog(name: typeof dialog.value): void {
  dialog.value = name
}

/** What the navigation counts: a number, what it is, and its tone. */
type Counted = readonly [number: number, noun: string, tone: string]

function useCounts(): { readonly [Name in View]?: Counted } {
  const isOne = environment.value !== ALL
  const links = useApi<Schemas['Links']>(isOne ? '/links' : null).value?.links
  const scenarios = useApi<Schemas['Scenarios']>(isOne ? '/scenarios' : null).value?.scenarios
  const query = { environment: isOne ? environment.value : undefined }
  const { findings = [] } = useApi<Schemas['ContractReport']>('/contract', query).value?.total ?? {}
  return {
    links: [links?.length ?? 0, 'open', 'info'],
    scenarios: [scenarios?.filter(({ running, spent }) => running && !spent).length ?? 0, 'running', 'success'],
    contract: [findings.length, 'findings', findings.some(isViolation) ? 'error' : 'warning'],
  }
}

function Count({ count: [number, noun, tone] = [0, '', ''] }: Readonly<{ count: Counted | undefined }>) {
  if (number === 0) return null
  return (
    <span class={`badge ${tone}`} title={`${number} ${noun}`}>
      {number}
      <span class="visually-hidden"> {noun}</span>
    </span>
  )
}

/** Selects the environment. The view stays; its open item is closed. */
function EnvironmentSwitcher() {
  const { view } = route.value
  const current = environment.value
  const all = view === 'timeline' || view === 'contract' ? [[ALL, 'all environments'] as const] : []
  const options = [...all, ...environmentOptions()]
  const unknown = options.some(([name]) => name === current) ? [] : [[current, current] as const]
  return (
    <Field
      label="Environment"
      wrap="choice environment"
      value={current}
      options={[...unknown, ...options]}
      onInput={enter}
    />
  )
}

const CONNECTIONS: { readonly [State in Connection]: readonly [text: string, tone: string] } = {
  connecting: ['connecting', ''],
  live: ['live', 'success'],
  waiting: ['waiting', 'warning'],
  silent: ['no answer', 'error'],
  lost: ['not connected, trying again', 'error'],
  refused: ['not connected', 'error'],
}

function ConnectionState() {
  const skipped = timeline.skipped.value
  const state = connectionState.value
  const [text, tone] = CONNECTIONS[state]
  return (
    <span class="connection" role="status">
      {state === 'live' && skipped > 0 ? (
        <SmallButton
          label={`${plural(skipped, 'request')} not shown, load them`}
          class="warning"
          onClick={() => void reconnect()}
        />
      ) : (
        <small class={`state dot ${state} ${tone}`}>{text}</small>
      )}
    </span>
  )
}

function Help() {
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => openDialog('')}>
      <Facts
        facts={allActions().flatMap(({ keys, text }) =>
          keys === undefined
            ? []
            : [[keys.split(' ').flatMap((key) => [<kbd key={key}>{key}</kbd>, ' ']), text] as const],
        )}
      />
    </Dialog>
  )
}

function TokenDialog({ found }: Readonly<{ found: string }>) {
  const [token, setToken] = useState('')
  return (
    <Dialog title="This server asks for its admin token" onClose={() => undefined}>
      <Form
        label="Use it"
        disabled={token === ''}
        submit={() => {
          keepToken(token)
          return reconnect()
        }}
      >
        <p>It is the value of --admin-token. It is kept in this tab, until the tab is closed.</p>
        <Field
          label="Admin token"
          autofocus
          type="password"
          value={token}
          aria-invalid={found !== ''}
          onInput={setToken}
        />
        <ProblemNote error={found === '' ? undefined : { message: found }} />
      </Form>
    </Dialog>
  )
}
