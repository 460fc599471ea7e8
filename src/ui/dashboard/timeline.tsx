import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { plural } from '../../model/domain/text.ts'
import { NO_FILTER, notice, timelineKeys } from './actions.ts'
import { call, type Schemas, serverUrl, type TimelineEntry, useApi } from './api.ts'
import { Empty, Status, Tag } from './content.tsx'
import { Button, ChoiceField, type Options, SearchField, SmallButton } from './controls.tsx'
import { isAnswered, kindOf, KINDS, mark, marked, show, titleOf, toneOfEntry } from './entry.ts'
import { momentOf, timeOf, tookOf } from './format.ts'
import { ALL, closeItem, environment, linkTo, route, setParameters } from './hash-route.ts'
import { Icon, type IconName } from './icons.tsx'
import { listen } from './keyboard.ts'
import { SortButton, sortedBy } from './list-view.tsx'
import { environments, timeline } from './live.ts'
import { RequestDetail } from './request.tsx'
import { useFound, useHits } from './search.ts'
import type { Bar, Collapsed, Grouping, Line, Mark as MarkName } from './timeline-entries.ts'
import { GROUPINGS, linesOf, MAX_ENTRIES, subjectOf } from './timeline-entries.ts'

const MARK_TEXTS: { readonly [Name in MarkName]: readonly [text: string, tone: string, icon: IconName] } = {
  violation: ['violation', 'error', 'contract'],
  warning: ['warning', 'warning', 'info'],
  injected: ['injected', 'info', 'scenarios'],
  rule: ['scenario', 'info', 'scenarios'],
  refresh: ['refresh', '', 'refresh'],
  transition: ['state changed', '', 'move'],
  unserved: ['not served', 'warning', 'unknown'],
  defect: ['defect of the mock', 'error', 'alert'],
}

const STATUSES: Options = [
  ['', 'any status'],
  ['error', 'errors'],
  ...['2', '3', '4', '5'].map((digit) => [digit, `${digit}xx`] as const),
  ['0', 'no answer'],
]
const MARKS: Options = [['', 'any mark'], ...Object.entries(MARK_TEXTS).map(([name, [text]]) => [name, text] as const)]
const GROUPS: Options = Object.entries(GROUPINGS).map(([name, [text]]) => [name, text] as const)

const KIND_TEXTS = {
  request: 'requests',
  mcp: 'MCP',
  grpc: 'gRPC',
  webhook: 'webhooks',
  page: 'pages',
  control: 'control',
}
const KIND_CHOICES: Options = [
  ['', 'any kind'],
  ...KINDS.map((kind) => [kind, KIND_TEXTS[kind]] as const),
  ...KINDS.map((kind) => [`-${kind}`, `without ${KIND_TEXTS[kind]}`] as const),
]

/** How the list is shown, by parameters of the route. */
const grouping = computed((): Grouping => {
  const { by = '' } = route.value.parameters
  return Object.hasOwn(GROUPINGS, by) ? (by as Grouping) : ''
})
/** Whether the machine's time is the first one. */
const isReal = computed(() => route.value.parameters['times'] === 'real')

const collapsedGroups = signal<Collapsed>({ of: new Map() })

export function TimelineView() {
  const { value: collapsed } = collapsedGroups
  const { id, parameters } = route.value
  const version = timeline.version.value
  const { q: text = '', sort = '' } = parameters
  const { value: by } = grouping
  const environmentList = environments.value
  const labels = useMemo(() => new Map(environmentList.map(({ name, label }) => [name, label])), [environmentList])
  const searchResult = useFound(text)
  useHits(text)
  const entries = useMemo(
    () => sortedBy(timeline.matching(parameters, { found: searchResult, labels }), timelineCell(sort)?.value, sort),
    [version, parameters, searchResult, labels],
  )
  const lines = useMemo(
    () => [
      ...linesOf(entries, by, { collapsed, labels }),
      ...(timeline.size === MAX_ENTRIES && by === '' ? [BEGIN] : []),
      ...timeline.formerLines(parameters, labels),
    ],
    [entries, by, collapsed, labels],
  )
  return (
    <div class="split">
      <div class={`column list-side ${by === 'test' ? 'timed' : ''}`}>
        {marked.value && (
          <p class="notice info" role="status">
            {titleOf(marked.value)} is marked: press x on the request to compare it with.
            <SmallButton label="Cancel" onClick={() => (marked.value = undefined)} />
          </p>
        )}
        <Filters count={entries.length} groups={lines.filter((line) => line.kind === 'group')} />
        {timeline.size === 0 && entries.length === 0 && !timeline.hasFormer ? (
          <NoRequests />
        ) : lines.length === 0 ? (
          <Empty title="No request matches.">
            <Button label="Show all" onClick={() => setParameters(NO_FILTER)} />
          </Empty>
        ) : (
          <>
            <Heads />
            <List lines={lines} />
          </>
        )}
      </div>
      {id !== '' && <RequestDetail key={id} id={id} />}
    </div>
  )
}

function Filters({ count, groups }: Readonly<{ count: number; groups: readonly { readonly collapsed: boolean }[] }>) {
  const [unfolded, setUnfolded] = useState(false)
  const { parameters } = route.value
  const paused = timeline.paused.value
  const allCollapsed = groups.every((group) => group.collapsed)
  useEffect(() => listen(timelineKeys()), [])
  const version = timeline.version.value
  const called = useMemo(() => timeline.operations(), [version])
  const { operation: chosen = [], account } = parameters
  const operations = [...new Set([called, chosen].flat())].map((name) => [name, name] as const)
  const choices = [
    ['kind', 'Kind', KIND_CHOICES],
    ['operation', 'Operation', [['', 'any operation'], ...operations]],
    ['status', 'Status', STATUSES],
    ['mark', 'Mark', MARKS],
    ['by', 'Group by', GROUPS],
  ] as const
  const chosenFilters = choices.filter(([name]) => parameters[name] !== undefined).length
  const isFiltered = Object.keys(NO_FILTER).some((name) => parameters[name] !== undefined)
  const clear = async (): Promise<void> => {
    const { value: name } = environment
    await call('DELETE', '/requests')
    const restore = () => call('POST', '/requests/restore', { query: { environment: name } })
    notice.value = { text: 'The requests are cleared.', actions: [['Undo', restore]] }
  }
  return (
    <div class={`buttons controls foldable ${unfolded ? 'unfolded' : ''}`} role="search" aria-label="Requests">
      <SearchField label="Search requests" />
      <SmallButton
        label={chosenFilters === 0 ? 'Filters' : `Filters (${chosenFilters})`}
        class="fold"
        aria-expanded={unfolded}
        onClick={() => setUnfolded(!unfolded)}
      />
      {choices.map(([name, label, options]) => (
        <ChoiceField key={name} name={name} label={label} options={options} />
      ))}
      {groups.length > 0 && (
        <SmallButton
          label={allCollapsed ? 'Expand all' : 'Collapse all'}
          onClick={() => (collapsedGroups.value = { all: !allCollapsed, of: new Map() })}
        />
      )}
      {account !== undefined && (
        <SmallButton label={`Account ${account} ✕`} onClick={() => setParameters({ account: '' })} />
      )}
      <span class="space" />
      <span class="row">
        <small>
          {isFiltered
            ? `${count} of ${plural(timeline.size, 'request')}`
            : timeline.size < MAX_ENTRIES
              ? plural(timeline.size, 'request')
              : `newest ${numberText(timeline.size)} of ${numberText(timeline.total)}`}
        </small>
        <SmallButton
          label={paused ? `Resume${timeline.waiting > 0 ? ` (${timeline.waiting} new)` : ''}` : 'Pause'}
          aria-pressed={paused}
          onClick={() => timeline.togglePause()}
        />
        <SmallButton label="Clear" disabled={environment.value === ALL} act={clear} />
      </span>
    </div>
  )
}

function NoRequests() {
  const { value } = useApi<Schemas['Variables']>('/env', { format: 'json' })
  const { TOOLMOCK_CLIENT_ID: id, TOOLMOCK_CLIENT_SECRET: secret } = value ?? {}
  const command = `export TOOLMOCK_URL=${serverUrl()} TOOLMOCK_CLIENT_ID=${id} TOOLMOCK_CLIENT_SECRET=${secret}
curl -s $TOOLMOCK_URL/oauth/token -d grant_type=client_credentials -d client_id=$TOOLMOCK_CLIENT_ID -d client_secret=$TOOLMOCK_CLIENT_SECRET`
  return (
    <Empty title="No request yet." {...(value && { command })}>
      <p>
        Set these variables where your application runs. The second line sends the first request; then{' '}
        <a href={linkTo('links')}>connect an account</a>.
      </p>
    </Empty>
  )
}

const BEGIN: Line = {
  kind: 'note',
  text: `This page has the newest ${numberText(MAX_ENTRIES)} requests: it begins here.`,
  key: 'begin',
}

const LINE_HEIGHT = 32
/** A list that is narrower has two rows for each line; the style sheet has the same width. */
const NARROW = 560
/** Lines that are rendered above and below the window, so that scrolling shows no gaps. */
const OVERSCAN = 12

/** The list renders only the lines in the window, so that 10,000 lines scroll as fast as ten. */
function List({ lines }: Readonly<{ lines: readonly Line[] }>) {
  const { id: open } = route.value
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [size, setSize] = useState({ width: NARROW, height: 600 })
  const [focus, setFocus] = useState<string | undefined>(undefined)
  const line = size.width < NARROW ? LINE_HEIGHT + 20 : LINE_HEIGHT

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const measure = (): void => setSize({ width: element.offsetWidth, height: element.clientHeight })
    // Before the first paint, after which lines of another height would jump.
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // The line under the pointer stays where it is when new lines are added above it, and so do lines once the list is scrolled.
  const pointer = useRef<number | undefined>(undefined)
  const held = useRef<number | undefined>(undefined)
  const lastLines = useRef(lines)
  useLayoutEffect(() => {
    const element = box.current
    const before = lastLines.current
    lastLines.current = lines
    if (!element || (element.scrollTop === 0 && pointer.current === undefined)) return
    const was = Math.min(before.length - 1, Math.floor((element.scrollTop + (pointer.current ?? 0)) / line))
    const at = lines.findIndex(({ key }) => key === before[was]?.key)
    if (at < 0 || at === was) return
    const wanted = Math.max(0, element.scrollTop + (at - was) * line)
    if (element.scrollTop === 0 || held.current === element.scrollTop) held.current = wanted
    // A short list needs room below it to be scrolled.
    setScrollHeight(element, wanted)
    element.scrollTop = wanted
  }, [lines])
  const leave = ({ currentTarget: element }: { currentTarget: HTMLElement }): void => {
    if (held.current !== undefined && Math.abs(held.current - element.scrollTop) < 1) element.scrollTop = 0
    pointer.current = held.current = undefined
    setScrollHeight(element, 0)
  }

  const focused = lines.findIndex(({ key }) => key === focus)
  const opened = lines.findIndex((each) => each.kind === 'entry' && each.entry.id === open)
  const current = focused >= 0 ? focused : opened
  // The line of a request that was opened by its address stays the current one.
  const openedKey = lines[opened]?.key
  useLayoutEffect(() => {
    if (openedKey !== undefined) setFocus(openedKey)
  }, [openedKey])
  // A line that a key or a link has chosen can be outside of the window.
  useLayoutEffect(() => {
    const element = box.current
    if (!element || current < 0) return
    const [first, last] = [(current + 1) * line - element.clientHeight, current * line]
    element.scrollTop = Math.max(first, Math.min(last, element.scrollTop))
  }, [open, focus, current < 0])
  const choose = (at: number): void => {
    const next = lines[Math.max(0, Math.min(lines.length - 1, at))]
    setFocus(next?.key)
    // While an entry is open, moving to another one opens it.
    if (next?.kind === 'entry' && open !== '') show(next.entry)
  }
  const press = (chosen = lines[current]): void => {
    if (!chosen || chosen.kind === 'note') return
    setFocus(chosen.key)
    if (chosen.kind === 'entry') show(chosen.entry)
    else {
      const { value: groups } = collapsedGroups
      collapsedGroups.value = { ...groups, of: new Map(groups.of).set(chosen.name, !chosen.collapsed) }
    }
  }
  // A layout effect, because keys can be pressed before the next frame.
  useLayoutEffect(() =>
    listen({
      j: () => choose(current + 1),
      k: () => choose(current - 1),
      ArrowDown: () => choose(current + 1),
      ArrowUp: () => choose(current - 1),
      Enter: () => press(),
      o: () => press(),
      x: () => {
        const chosen = lines[current]
        if (chosen?.kind === 'entry' && isAnswered(chosen.entry)) mark(chosen.entry)
      },
      Escape: () => {
        if (open !== '') closeItem()
      },
    }),
  )

  const from = Math.max(0, Math.floor(top / line) - OVERSCAN)
  const to = Math.min(lines.length, Math.ceil((top + size.height) / line) + OVERSCAN)
  const active = current >= 0 ? `line-${current}` : undefined
  const cells = shownCells()
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
      onPointerMove={(event) => {
        if (event.pointerType === 'mouse')
          pointer.current = event.clientY - event.currentTarget.getBoundingClientRect().top
      }}
      onPointerLeave={leave}
    >
      <div class="list-inner" role="rowgroup" style={{ height: `${lines.length * line}px` }}>
        {lines.slice(from, to).map((each, index) => {
          const at = from + index
          const isOpen = each.kind === 'entry' && each.entry.id === open
          return (
            <div
              key={each.key}
              id={`line-${at}`}
              role="row"
              aria-rowindex={at + 1}
              aria-selected={each.kind === 'entry' ? isOpen : undefined}
              class={classesOf(each, { open: isOpen, current: at === current })}
              style={{ top: `${at * line}px`, height: `${line}px` }}
              onClick={() => press(each)}
            >
              {each.kind === 'note' ? (
                <span role="gridcell">{each.text}</span>
              ) : each.kind === 'group' ? (
                <span role="gridcell" class="row">
                  {each.collapsed ? '▸' : '▾'} <strong title={each.name}>{each.name}</strong>
                  <span class="quiet">{plural(each.count, 'request')}</span>
                  {each.failed > 0 && <Tag tone="warning">{plural(each.failed, 'error')}</Tag>}
                </span>
              ) : (
                cells.map(({ name, class: kind = '', shown }) => (
                  <span key={name} role="gridcell" class={`${name} ${kind}`}>
                    {shown(each.entry, each.bar)}
                  </span>
                ))
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** Makes the content of the list high enough to be scrolled so far. */
function setScrollHeight(box: HTMLElement, scrollTop: number): void {
  const [inner] = box.children
  if (inner instanceof HTMLElement) inner.style.minHeight = scrollTop === 0 ? '' : `${scrollTop + box.clientHeight}px`
}

function classesOf(line: Line, is: { readonly open: boolean; readonly current: boolean }): string {
  const entry = line.kind === 'entry' ? line.entry : undefined
  const isOld = line.kind === 'entry' && line.isOld === true
  const hasArrived = entry !== undefined && timeline.hasArrived(entry)
  const flags = { ...is, old: isOld, arrived: hasArrived, marked: entry !== undefined && marked.value === entry }
  const names = Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [name] : []))
  return ['line', line.kind, entry ? failedTone(entry) : '', ...names].join(' ')
}

interface Cell {
  /** Its class, and its name in the parameter `sort`. */
  readonly name: string
  readonly title: string
  readonly class?: string
  readonly shown: (entry: TimelineEntry, bar: Bar | undefined) => ComponentChildren
  /** What the list is sorted by. */
  readonly value: (entry: TimelineEntry) => string | number
}

const MOCK_TIME = "Mock's time"
const REAL_TIME = 'Real time'

const CELLS: readonly Cell[] = [
  { name: 'time', title: MOCK_TIME, class: 'mono quiet', shown: Times, value: ({ at }) => at },
  {
    name: 'kind',
    title: 'Kind',
    class: 'quiet',
    shown: (entry) => (
      <span class="row" title={KIND_TEXTS[kindOf(entry)]}>
        <Icon name={kindOf(entry)} />
        <span class="visually-hidden">{KIND_TEXTS[kindOf(entry)]}</span>
      </span>
    ),
    value: kindOf,
  },
  {
    name: 'cell-status',
    title: 'Status',
    shown: (entry) => isAnswered(entry) && <Status status={entry.status} tone={toneOfEntry(entry)} />,
    value: (entry) => (isAnswered(entry) ? entry.status : -1),
  },
  {
    name: 'what',
    title: 'Request',
    shown: (entry) => (
      <>
        <span title={titleOf(entry)}>{titleOf(entry)}</span>
        {entry.error_code !== null && (
          <span class={`code-of-error mono ${toneOfEntry(entry)}`}>{entry.error_code}</span>
        )}
      </>
    ),
    value: titleOf,
  },
  { name: 'about', title: 'Account', class: 'quiet', shown: aboutOf, value: aboutOf },
  { name: 'marks', title: 'Marks', class: 'row', shown: Marks, value: ({ marks }) => marks.length },
  {
    name: 'waterfall',
    title: 'When',
    shown: (_entry, bar) =>
      bar && <span class="bar-of-time" style={{ left: `${bar[0] * 100}%`, width: `${bar[1] * 100}%` }} />,
    value: ({ real_at, duration_ms }) => Date.parse(real_at) - duration_ms,
  },
  {
    name: 'took',
    title: 'Took',
    class: 'mono',
    shown: (entry) => (isAnswered(entry) ? tookOf(entry.duration_ms) : ''),
    value: ({ duration_ms }) => duration_ms,
  },
  {
    name: 'real',
    title: REAL_TIME,
    class: 'mono quiet',
    shown: ({ at, real_at }) => timeOf(isReal.value ? at : real_at).slice(0, 8),
    value: ({ real_at }) => real_at,
  },
]

/** The waterfall is for groups that are tests. */
function shownCells(): readonly Cell[] {
  return grouping.value === 'test' ? CELLS : CELLS.filter(({ name }) => name !== 'waterfall')
}

function timelineCell(sort: string): Cell | undefined {
  return CELLS.find(({ name }) => name === sort.replace(/^-/, ''))
}

function Heads() {
  const swapped: Readonly<Record<string, string>> = isReal.value ? { time: REAL_TIME, real: MOCK_TIME } : {}
  return (
    <div class="row list-head" role="group" aria-label="Columns">
      {shownCells().map(({ name, title }) => (
        <span key={name} class={name}>
          {name !== 'kind' && <SortButton name={name} title={swapped[name] ?? title} />}
          {name === 'time' && (
            <Button
              class="link"
              label={'\u00a0⇄'}
              aria-label={isReal.value ? "Show the mock's time first" : 'Show real time first'}
              onClick={() => setParameters({ times: isReal.value ? '' : 'real' })}
            />
          )}
        </span>
      ))}
    </div>
  )
}

function Times({ at, real_at }: TimelineEntry) {
  const title = `${momentOf(at)} by the mock's clock, ${momentOf(real_at)} in real time`
  const text = timeOf(isReal.value ? real_at : at)
  return (
    <span title={title}>
      {text.slice(0, 8)}
      <span class="milliseconds">{text.slice(8)}</span>
    </span>
  )
}

function Marks({ marks }: TimelineEntry) {
  // A rule causes every injected answer, so the mark `injected` makes the mark `rule` redundant.
  const visibleMarks = marks.filter((mark) => mark !== 'rule' || !marks.includes('injected'))
  return (
    <>
      {visibleMarks.map((mark) => {
        const [text, tone, icon] = MARK_TEXTS[mark]
        return (
          <span key={mark} class={`mark ${tone}`} title={text}>
            <Icon name={icon} />
            <span class="mark-text">{text}</span>
          </span>
        )
      })}
    </>
  )
}

function aboutOf(entry: TimelineEntry): string {
  const { client, kind, operation, environment: name } = entry
  const subject = subjectOf(entry)
  const who = subject === '' && (kind === 'request' || operation !== null) ? (client ?? '') : subject
  return environment.value === ALL ? [name, who].filter(Boolean).join(' · ') : who
}

/** The classes of the line of a failed request. */
function failedTone(entry: TimelineEntry): string {
  if (!isAnswered(entry)) return ''
  if (entry.marks.includes('violation') || entry.marks.includes('defect')) return 'failed error'
  const tone = toneOfEntry(entry)
  return tone === 'error' || tone === 'warning' ? `failed ${tone}` : ''
}

function numberText(count: number): string {
  return count.toLocaleString('en')
}
