import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { isNumberText } from '../../model/domain/json.ts'
import { breakable, quote } from '../../model/domain/text.ts'
import { CopyButton } from './controls.tsx'
import { toneOf } from './format.ts'

export function Status({ status, tone = toneOf(status) }: Readonly<{ status: number; tone?: string }>) {
  return <span class={`status ${tone}`}>{status === 0 ? 'none' : status}</span>
}

export function Tag({ children, tone = '' }: Readonly<{ children: ComponentChildren; tone?: string }>) {
  return <span class={`tag ${tone}`}>{children}</span>
}

/** A long name, which breaks after its parts. */
function Name({ name }: Readonly<{ name: string }>) {
  return (
    <>
      {breakable(name).map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  )
}

/** A path into a document, which breaks after its parts. */
export function PathText({ path }: Readonly<{ path: string }>) {
  return (
    <code>
      <Name name={path} />
    </code>
  )
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
export function Items({
  items,
  tone = '',
  label,
}: Readonly<{ items: readonly ComponentChildren[]; tone?: string; label?: string }>) {
  return (
    <ul class={`column items ${tone}`} aria-label={label}>
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

/**
 * A table that scrolls sideways where it is wider than its place. A heading is a text, or a text with the class of its column. The
 * cell in the column `by` is the heading of its row.
 */
export function RowTable({
  caption,
  label = caption ?? '',
  heads,
  rows,
  by = 0,
  class: className = '',
}: Readonly<{
  class?: string
  caption?: string
  /** Its name, where that is not its caption. */
  label?: string
  heads: readonly (string | readonly [text: string, className: string])[]
  rows: readonly (readonly ComponentChildren[])[]
  by?: number
}>) {
  const columns = heads.map((head) => (typeof head === 'string' ? ([head, ''] as const) : head))
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
      <table class={`${className} ${className === 'matrix' ? '' : 'stacked'}`}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map(([text, name]) => (
              <th key={text} scope="col" class={name}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
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
      <summary>
        {label}
        <span class="quiet">{isList ? `[${members.length}]` : `{${members.length}}`}</span>
      </summary>
      <div class="items">{inner}</div>
    </details>
  )
}
