import type { ComponentChildren, JSX } from 'preact'
import { isNumberText } from '../../model/domain/json.ts'
import { breakable, capitalise, quote } from '../../model/domain/text.ts'
import { type ApiError, serverUrl } from './api.ts'
import { Button, CopyButton, ProblemNote } from './controls.tsx'
import { toneOf } from './format.ts'
import { ALL, environment, route, setParameters } from './hash-route.ts'
import { Icon } from './icons.tsx'

export function Status({ status, tone = toneOf(status) }: Readonly<{ status: number; tone?: string }>) {
  return <span class={`status ${tone}`}>{status === 0 ? 'none' : status}</span>
}

export function Tag({ children, tone = '' }: Readonly<{ children: ComponentChildren; tone?: string }>) {
  return <span class={`tag ${tone}`}>{children}</span>
}

/** A path into a document, which breaks after its parts. */
export function PathText({ path }: Readonly<{ path: string }>) {
  return <code>{breakable(path).flatMap((part, at) => (at > 0 ? [<wbr key={at} />, part] : [part]))}</code>
}

/** An id, which a click copies. */
export function Id({ id }: Readonly<{ id: string }>) {
  return (
    <span class="row wrap">
      <code>{id}</code> <CopyButton text={() => id} />
    </span>
  )
}

/** Sentences that are each about something else. */
export function Items({ items }: Readonly<{ items: readonly ComponentChildren[] }>) {
  return (
    <ul class="column items">
      {items.map((item, at) => (
        <li key={at}>{item}</li>
      ))}
    </ul>
  )
}

/** Names with their values; one without a value is left out. */
export function Facts({
  facts,
}: Readonly<{ facts: readonly (readonly [name: ComponentChildren, value: ComponentChildren])[] }>) {
  const filledFacts = facts.filter(([, value]) => value !== null && value !== undefined)
  return (
    <dl class="column facts">
      {filledFacts.map(([name, value], at) => (
        <div key={at}>
          <dt class="quiet">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A heading of a table: a text, also with the class of its column, its width in pixels, and what sorts the rows by it. */
type Head =
  | string
  | readonly [
      text: string,
      className?: string | undefined,
      column?: { width?: number | undefined; order?: 'ascending' | 'descending' | undefined; sort?: ComponentChildren },
    ]

/**
 * A table that scrolls where it is larger than its place. The cell in the column `by` is the heading of its row. A click on a row
 * is one on its link that is a row of the list.
 */
export function RowTable({
  caption,
  label = caption ?? '',
  heads,
  rows,
  keys = [],
  by = 0,
  class: className = '',
  scroll = 'scroll-x',
}: Readonly<{
  class?: string
  caption?: string
  /** Its name, where that is not its caption. */
  label?: string
  heads: readonly Head[]
  rows: readonly (readonly ComponentChildren[])[]
  /** Of the rows, where their components have a state. */
  keys?: readonly string[]
  by?: number
  scroll?: 'scroll' | 'scroll-x'
}>) {
  const columns = heads.map((head) => (typeof head === 'string' ? ([head] as const) : head))
  const openRow = ({ target }: { target: EventTarget | null }): void => {
    const element = target as Element
    if (!element.closest('a, button, input, select'))
      element.closest('tr')?.querySelector<HTMLElement>('[data-row]')?.click()
  }
  return (
    <div class={scroll} tabIndex={0} role="region" aria-label={label} onClick={openRow}>
      <table class={`${className} ${className === 'matrix' ? '' : 'stacked'}`}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map(([text, name, { width, order, sort = text } = {}]) => (
              <th
                key={text}
                scope="col"
                class={name}
                style={width === undefined ? {} : { width: `${width}px` }}
                aria-sort={order}
              >
                {sort}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={keys[row] ?? row}>
              {cells.map((cell, at) => {
                const [Cell, scope] = at === by ? (['th', 'row'] as const) : (['td', undefined] as const)
                return (
                  <Cell key={at} scope={scope} class={columns[at]?.[1]} data-label={columns[at]?.[0]}>
                    {cell}
                  </Cell>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Takes the place of a value that is not loaded, with the error when loading failed. `gone` says that it does not exist. */
export function Loading({ error, gone }: Readonly<{ error?: ApiError | undefined; gone?: string }>) {
  return error?.status === 404 && gone !== undefined ? (
    <Empty title={gone}>
      <p>{capitalise(error.message)}</p>
    </Empty>
  ) : error ? (
    <ProblemNote error={error} />
  ) : (
    <p class="notice" role="status">
      <Icon name="refresh" />
      Loading…
    </p>
  )
}

/** Takes the place of an empty list, with advice on what to do first and a command that does it. */
export function Empty({
  title,
  command,
  children,
}: Readonly<{ title: string; command?: string; children?: ComponentChildren }>) {
  return (
    <div class="column empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
      {command !== undefined && <ShellCommand text={command} />}
    </div>
  )
}

/** A command of toolmock for the server of this page, in the environment that is shown. */
export function commandOf(words: string): string {
  const { value: name } = environment
  return `npx toolmock ${words} --url ${serverUrl()}${name === 'default' || name === ALL ? '' : ` --environment ${name}`}`
}

export function ShellCommand({ text }: Readonly<{ text: string }>) {
  return (
    <div class="row command">
      <pre class="code mono" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={() => text} />
    </div>
  )
}

/** A part of a view that can be collapsed. */
export function Section({
  title,
  children,
  open = true,
  note,
  level = 3,
}: Readonly<{
  title: string
  children: ComponentChildren
  open?: boolean
  note?: ComponentChildren
  /** The level of its heading: 2 in a page, 3 in a detail. */
  level?: 2 | 3
}>) {
  const Heading = `h${level}` as const
  return (
    <details class={`section ${level === 2 ? 'card' : ''}`} open={open}>
      <summary class="row">
        <Heading>{title}</Heading>
        <span class="space" />
        <small>{note}</small>
      </summary>
      <div class="column section-body">{children}</div>
    </details>
  )
}

type Tab = readonly [name: string, text: string, content: () => ComponentChildren]

/** Tabs with the content of one, whose name is the parameter `tab` of the route; the first one has none. */
export function Tabs({ label, tabs }: Readonly<{ label: string; tabs: readonly [Tab, ...Tab[]] }>) {
  const [tab, , content] = tabs.find(([name]) => name === route.value.parameters['tab']) ?? tabs[0]
  return (
    <>
      <div class="row tabs" role="tablist" aria-label={label}>
        {tabs.map(([name, text], at) => (
          <Button
            key={name}
            id={`tab-${name}`}
            label={text}
            role="tab"
            aria-selected={name === tab}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => openTab(name)}
            onKeyDown={({ key, currentTarget }) => {
              const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
              const next = tabs[(at + step + tabs.length) % tabs.length]
              if (step === 0 || !next) return
              openTab(next[0])
              currentTarget.parentElement?.querySelector<HTMLElement>(`#tab-${next[0]}`)?.focus()
            }}
          />
        ))}
      </div>
      <div role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {content()}
      </div>
    </>
  )
}

export function openTab(name: string): void {
  setParameters({ tab: name })
  document.querySelector('.tabs')?.scrollIntoView({ block: 'start' })
}

/** A JSON value. Objects and lists below the first level can be collapsed. `cut` says why its end is missing. */
export function Json({ value, cut }: Readonly<{ value: unknown; cut?: string | undefined }>) {
  if (value === null && cut === undefined) return <p class="quiet">none</p>
  return (
    <div class="code mono json" tabIndex={0} role="group" aria-label={typeof value === 'string' ? 'Text' : 'JSON'}>
      {typeof value === 'string' ? value : value !== null && <JsonNode value={value} depth={0} />}
      {cut !== undefined && <p class="cut expired">✂ {cut}</p>}
    </div>
  )
}

/** Objects and lists at this depth or with more members than this start collapsed. */
const COLLAPSED_DEPTH = 3
const MAX_EXPANDED = 40

function JsonNode({ value, name, depth }: Readonly<{ value: unknown; name?: string; depth: number }>): JSX.Element {
  const label = name !== undefined && <span class="code-key">{name}: </span>
  const members = typeof value === 'object' && value !== null && !isNumberText(value) ? Object.entries(value) : []
  if (members.length === 0) {
    const isText = typeof value === 'string'
    return (
      <div>
        {label}
        <span class={value instanceof Object || value === null ? 'quiet' : isText ? 'code-string' : 'code-word'}>
          {isText ? quote(value, 20_000) : JSON.stringify(value)}
        </span>
      </div>
    )
  }
  const isList = Array.isArray(value)
  const inner = members.map(([key, inside]: [string, unknown]) => (
    <JsonNode key={key} value={inside} {...(isList ? {} : { name: key })} depth={depth + 1} />
  ))
  if (depth === 0) return <>{inner}</>
  return (
    <details open={depth < COLLAPSED_DEPTH && members.length <= MAX_EXPANDED}>
      <summary class="quiet">
        {label}
        {isList ? `[${members.length}]` : `{${members.length}}`}
      </summary>
      <div class="items">{inner}</div>
    </details>
  )
}
