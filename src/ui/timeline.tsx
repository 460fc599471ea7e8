import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { plural } from '../domain/text.ts'
import type { TimelineEntry } from './api.ts'
import { close, isAnswered, show, titleOf } from './entry.ts'
import { momentOf, timeOf, tookOf } from './format.ts'
import { listen } from './keyboard.ts'
import { environments, timeline } from './live.ts'
import { Button, Choice, Command, Empty, SearchField, Small, Status, Tag } from './parts.tsx'
import { setParameters, ALL, environment, route } from './hash-route.ts'
import { RequestDetail } from './request.tsx'
import { type Grouping, GROUPINGS, type Line, linesOf, type Mark } from './timeline-entries.ts'
import { useAction } from './use-api.ts'

const MARK_TEXTS: { readonly [Name in Mark]: readonly [text: string, tone: string] } = {
  violation: ['violation', 'error'],
  warning: ['sent without effect', 'warning'],
  injected: ['injected', 'info'],
  rule: ['scenario', 'info'],
  refresh: ['refresh', ''],
  transition: ['state changed', ''],
  unserved: ['not served', 'warning'],
  defect: ['defect of the mock', 'error'],
}

const STATUSES = [
  ['', 'any status'],
  ['error', 'errors'],
  ['2', '2xx'],
  ['3', '3xx'],
  ['4', '4xx'],
  ['5', '5xx'],
  ['0', 'no answer'],
] as const

const GROUPING_TEXTS: { readonly [Name in Grouping]: string } = {
  none: 'not grouped',
  test: 'by test or environment',
  client: 'by client',
  account: 'by account',
  operation: 'by operation',
}

export function TimelineView() {
  const { id, parameters } = route.value
  const version = timeline.version.value
  const filter = {
    text: parameters['q'] ?? '',
    operation: parameters['operation'] ?? '',
    status: parameters['status'] ?? '',
    account: parameters['account'] ?? '',
    mark: parameters['mark'] ?? '',
  }
  const by = GROUPINGS.find((each) => each === parameters['by']) ?? 'none'
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const entries = useMemo(() => timeline.matching(filter), [version, JSON.stringify(filter)])
  const known = environments.value
  const lines = useMemo(() => {
    const labels = new Map(known.map(({ name, label }) => [name, label]))
    return linesOf(entries, by, { collapsed, labels })
  }, [entries, by, collapsed, known])
  const toggle = (name: string): void => {
    const next = new Set(collapsed)
    if (!next.delete(name)) next.add(name)
    setCollapsed(next)
  }
  const filtered = Object.values(filter).some((value) => value !== '')
  return (
    <div class={`split ${id === '' ? '' : 'opened'}`}>
      <div class="list-side">
        <Filters filtered={filtered} count={entries.length} account={filter.account} />
        {timeline.size === 0 ? (
          <NoRequests />
        ) : lines.length === 0 ? (
          <Empty title="No request matches.">
            <Button label="Show all" onClick={() => setParameters(NO_FILTER)} />
          </Empty>
        ) : (
          <>
            <div class="row list-head" aria-hidden="true">
              {CELLS.map(([name, title]) => (
                <span key={name} class={name}>
                  {title}
                </span>
              ))}
            </div>
            <List lines={lines} open={id} toggle={toggle} />
          </>
        )}
      </div>
      {id !== '' && <RequestDetail key={id} id={id} />}
    </div>
  )
}

const NO_FILTER = { q: '', operation: '', status: '', account: '', mark: '' }

function Filters({ filtered, count, account }: Readonly<{ filtered: boolean; count: number; account: string }>) {
  const { parameters } = route.value
  const clear = useAction()
  const paused = timeline.paused.value
  useEffect(() => listen({ p: togglePause }), [])
  const version = timeline.version.value
  const operations = useMemo(() => timeline.operations(), [version])
  const chosen = parameters['operation'] ?? ''
  return (
    <div class="controls" role="search" aria-label="Requests">
      <SearchField label="Search requests" value={parameters['q'] ?? ''} onInput={(q) => setParameters({ q })} />
      <Choice
        label="Operation"
        value={chosen}
        options={[
          ['', 'any operation'],
          ...[...new Set([...operations, ...(chosen === '' ? [] : [chosen])])].map((name) => [name, name] as const),
        ]}
        onChange={(operation) => setParameters({ operation })}
      />
      <Choice
        label="Status"
        value={parameters['status'] ?? ''}
        options={STATUSES}
        onChange={(status) => setParameters({ status })}
      />
      <Choice
        label="Mark"
        value={parameters['mark'] ?? ''}
        options={[['', 'any mark'], ...Object.entries(MARK_TEXTS).map(([name, [text]]) => [name, text] as const)]}
        onChange={(mark) => setParameters({ mark })}
      />
      <Choice
        label="Group by"
        value={parameters['by'] ?? 'none'}
        options={GROUPINGS.map((name) => [name, GROUPING_TEXTS[name]] as const)}
        onChange={(by) => setParameters({ by: by === 'none' ? '' : by })}
      />
      {account !== '' && <Small label={`Account ${account} ✕`} onClick={() => setParameters({ account: '' })} />}
      <span class="row list-actions">
        <span class="quiet count">
          {filtered ? `${count} of ${plural(timeline.size, 'request')}` : plural(timeline.size, 'request')}
        </span>
        <Small
          label={paused ? `Resume${timeline.waiting > 0 ? ` (${timeline.waiting} new)` : ''}` : 'Pause'}
          aria-pressed={paused}
          onClick={togglePause}
        />
        <Small
          label="Clear"
          disabled={environment.value === ALL || clear.busy}
          onClick={() => clear.send('DELETE', '/requests')}
        />
      </span>
    </div>
  )
}

function togglePause(): void {
  if (timeline.paused.value) timeline.resume()
  else timeline.pause()
}

function NoRequests() {
  const url = new URL('..', location.href).href.replace(/\/$/, '')
  const command = `curl -s ${url}/oauth/token -d grant_type=client_credentials -d client_id=test_client -d client_secret=test_secret`
  return (
    <Empty title="No request yet.">
      <p>Point a client at this server, or send the first request from a shell:</p>
      <Command text={command} />
    </Empty>
  )
}

const LINE_HEIGHT = 30
/** Lines that are rendered above and below the window, so that scrolling shows no gaps. */
const OVERSCAN = 12

/** The list renders only the lines in the window, so that 10,000 lines scroll as fast as ten. */
function List({
  lines,
  open,
  toggle,
}: Readonly<{ lines: readonly Line[]; open: string; toggle: (name: string) => void }>) {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const [focus, setFocus] = useState<string | undefined>(undefined)
  const wide = useWide()
  const line = wide ? LINE_HEIGHT : LINE_HEIGHT + 20

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() => setHeight(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // The lines in the window stay where they are when new lines are added above them.
  const anchor = useRef<{ key: string; at: number } | undefined>(undefined)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const was = anchor.current
    if (was && element.scrollTop > 0) {
      const at = lines.findIndex(({ key }) => key === was.key)
      if (at >= 0 && at !== was.at) element.scrollTop += (at - was.at) * line
    }
    const first = Math.floor(element.scrollTop / line)
    const key = lines[first]?.key
    anchor.current = key === undefined ? undefined : { key, at: first }
  }, [lines, top, line])

  const focused = lines.findIndex(({ key }) => key === focus)
  const choose = (at: number): void => {
    const next = lines[Math.max(0, Math.min(lines.length - 1, at))]
    const element = box.current
    if (!next || !element) return
    setFocus(next.key)
    const y = lines.indexOf(next) * line
    if (y < element.scrollTop) element.scrollTop = y
    else if (y + line > element.scrollTop + element.clientHeight) element.scrollTop = y + line - element.clientHeight
    // While an entry is open, moving to another one opens it.
    if (next.kind === 'entry' && open !== '') show(next.entry)
  }
  // An entry that a link has opened can be outside of the window.
  const opened = lines.findIndex((each) => each.kind === 'entry' && each.entry.id === open)
  useLayoutEffect(() => {
    const element = box.current
    if (!element || opened < 0) return
    const y = opened * line
    if (y < element.scrollTop || y + line > element.scrollTop + element.clientHeight) element.scrollTop = y - line * 3
  }, [open, opened < 0])
  const current = focused >= 0 ? focused : opened
  const press = (): void => {
    const chosen = lines[current]
    if (chosen?.kind === 'entry') show(chosen.entry)
    else if (chosen) toggle(chosen.name)
  }
  // A layout effect, because keys can be pressed before the next frame.
  useLayoutEffect(() =>
    listen({
      j: () => choose(current + 1),
      k: () => choose(current - 1),
      ArrowDown: () => choose(current + 1),
      ArrowUp: () => choose(current - 1),
      Enter: press,
      o: press,
      Escape: () => {
        if (open !== '') close()
      },
    }),
  )

  const from = Math.max(0, Math.floor(top / line) - OVERSCAN)
  const to = Math.min(lines.length, Math.ceil((top + height) / line) + OVERSCAN)
  const active = current >= 0 ? `line-${current}` : undefined
  return (
    <div
      ref={box}
      class="list"
      role="grid"
      aria-label="Requests, newest first"
      aria-rowcount={lines.length}
      aria-activedescendant={active}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="list-inner" role="rowgroup" style={{ height: `${lines.length * line}px` }}>
        {lines.slice(from, to).map((each, index) => {
          const at = from + index
          const place = {
            id: `line-${at}`,
            'aria-rowindex': at + 1,
            style: { top: `${at * line}px`, height: `${line}px` },
          }
          return each.kind === 'group' ? (
            <div
              key={each.key}
              {...place}
              role="row"
              class={`line group ${at === current ? 'current' : ''}`}
              onClick={() => toggle(each.name)}
            >
              <span role="gridcell">
                {each.collapsed ? '▸' : '▾'} <strong>{each.name}</strong>{' '}
                <span class="quiet">{plural(each.count, 'request')}</span>{' '}
                {each.failed > 0 && <Tag tone="warning">{plural(each.failed, 'error')}</Tag>}
              </span>
            </div>
          ) : (
            <EntryLine
              key={each.key}
              entry={each.entry}
              place={place}
              isOpen={each.entry.id === open}
              isCurrent={at === current}
              choose={() => setFocus(each.key)}
            />
          )
        })}
      </div>
    </div>
  )
}

interface LinePlace {
  readonly id: string
  readonly 'aria-rowindex': number
  readonly style: { readonly top: string; readonly height: string }
}

function EntryLine({
  entry,
  place: where,
  isOpen,
  isCurrent,
  choose,
}: Readonly<{ entry: TimelineEntry; place: LinePlace; isOpen: boolean; isCurrent: boolean; choose: () => void }>) {
  return (
    <div
      {...where}
      role="row"
      aria-selected={isOpen}
      class={`line entry ${isOpen ? 'open' : ''} ${isCurrent ? 'current' : ''}`}
      onClick={() => {
        choose()
        show(entry)
      }}
    >
      {CELLS.map(([name, , kind, shown]) => (
        <span key={name} role="gridcell" class={`${name} ${kind}`}>
          {shown(entry)}
        </span>
      ))}
    </div>
  )
}

/** The cells of a line: class, heading, more classes, and what an entry shows there. */
const CELLS: readonly (readonly [string, string, string, (entry: TimelineEntry) => ComponentChildren])[] = [
  ['time', "Mock's time", 'mono', Times],
  [
    'cell-status',
    'Status',
    '',
    (entry) => (isAnswered(entry) ? <Status status={entry.status} /> : <Tag>{entry.kind}</Tag>),
  ],
  ['what', 'Request', '', titleOf],
  ['about', 'About', '', aboutOf],
  ['marks', 'Marks', 'row', Marks],
  ['took', 'Took', 'mono', (entry) => (isAnswered(entry) ? tookOf(entry.duration_ms) : '')],
  ['real', 'Real time', 'mono quiet', ({ real_at }) => timeOf(real_at).slice(0, 8)],
]

function Times({ at, real_at }: TimelineEntry) {
  return <span title={`${momentOf(at)} by the mock's clock, ${momentOf(real_at)} in real time`}>{timeOf(at)}</span>
}

function Marks({ error_code, marks }: TimelineEntry) {
  return (
    <>
      {error_code !== null && <span class="quiet mono">{error_code}</span>}
      {shownMarks(marks).map((mark) => (
        <Tag key={mark} tone={MARK_TEXTS[mark][1]}>
          {MARK_TEXTS[mark][0]}
        </Tag>
      ))}
    </>
  )
}

function aboutOf({ identifier, connector, client, kind, operation, environment: name }: TimelineEntry): string {
  const subject = identifier === null ? '' : `${identifier} at ${connector ?? ''}`
  const who = subject === '' && (kind === 'request' || operation !== null) ? (client ?? '') : subject
  return environment.value === ALL ? [name, who].filter(Boolean).join(' · ') : who
}

/** A rule causes every injected answer, so the mark `injected` makes the mark `rule` redundant. */
function shownMarks(marks: readonly Mark[]): Mark[] {
  return marks.filter((mark) => mark !== 'rule' || !marks.includes('injected'))
}

function useWide(): boolean {
  const [wide, setWide] = useState(matchMedia(WIDE).matches)
  useEffect(() => {
    const media = matchMedia(WIDE)
    const change = (): void => setWide(media.matches)
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [])
  return wide
}
const WIDE = '(min-width: 700px)'
