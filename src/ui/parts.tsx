import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { signal } from '@preact/signals'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { breakable, quote } from '../domain/text.ts'
import type { ApiError } from './api.ts'
import { toneOf } from './format.ts'
import { Icon } from './icons.tsx'
import { ALL, environment } from './hash-route.ts'
import { listen } from './keyboard.ts'

export function Status({ status }: Readonly<{ status: number }>) {
  return <span class={`status ${toneOf(status)}`}>{status === 0 ? 'none' : status}</span>
}

export function Tag({ children, tone = '' }: Readonly<{ children: ComponentChildren; tone?: string }>) {
  return <span class={`tag ${tone}`}>{children}</span>
}

export function Problem({ error }: Readonly<{ error?: Pick<ApiError, 'message'> | undefined }>) {
  if (!error) return null
  return (
    <p class="notice problem error" role="alert">
      <Icon name="alert" />
      {error.message}
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
      {command !== undefined && <Command text={command} />}
    </div>
  )
}

/** A command of toolmock for the server of this page, in the environment that is shown. */
export function commandOf(words: string): string {
  const { value: name } = environment
  return `npx toolmock ${words} --url ${serverUrl()}${name === 'default' || name === ALL ? '' : ` --environment ${name}`}`
}

/** The URL of the server, without a slash at its end. */
export function serverUrl(): string {
  return new URL('..', location.href).href.replace(/\/$/, '')
}

export function Command({ text }: Readonly<{ text: string }>) {
  return (
    <div class="row command">
      <pre class="code mono" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={() => text} />
    </div>
  )
}

type Attributes<Tag extends keyof JSX.IntrinsicElements> = Omit<JSX.IntrinsicElements[Tag], 'class' | 'label'>

type ButtonAttributes = Attributes<'button'> & { readonly label: ComponentChildren; readonly class?: string }

/** A button that submits no form. */
export function Button({ label, ...attributes }: ButtonAttributes) {
  return (
    <button type="button" {...attributes}>
      {label}
    </button>
  )
}

export function SmallButton({ class: tone = '', ...attributes }: ButtonAttributes) {
  return <Button {...attributes} class={`small ${tone}`} />
}

/** A form that the page itself carries out. */
export function Form({
  submit,
  ...attributes
}: Attributes<'form'> & { readonly class?: string; readonly submit: () => void }) {
  return (
    <form
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    />
  )
}

/** A field with its label and, below it, a hint: a choice with `options`, a text area with `rows`, else an input. */
export function Field({
  label,
  options,
  rows,
  among,
  hint = '',
  wrap = options ? 'choice' : 'field',
  type = 'text',
  onInput,
  ...attributes
}: Readonly<{
  label: ComponentChildren
  value: string
  onInput: (value: string) => void
  options?: readonly (readonly [value: string, text: string])[] | undefined
  rows?: number | undefined
  /** Values that the browser suggests. */
  among?: readonly string[]
  hint?: string
  wrap?: 'field' | 'choice' | 'choice environment'
  type?: 'text' | 'url' | 'password' | 'datetime-local'
  inputMode?: 'decimal' | 'text'
  placeholder?: string
  step?: number
  'aria-invalid'?: boolean
}>) {
  const id = useId()
  const [hintId, listId] = [`${id}-hint`, `${id}-list`]
  const shared = {
    ...attributes,
    id,
    'aria-describedby': hint === '' ? undefined : hintId,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  }
  return (
    <span class={wrap}>
      <label for={id}>{label}</label>
      {options ? (
        <select {...shared}>
          {options.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      ) : rows !== undefined ? (
        <textarea {...shared} class="mono" rows={rows} spellcheck={false} />
      ) : (
        <input {...shared} {...({ type } as { type: 'text' })} list={among && listId} autocomplete="off" />
      )}
      {hint !== '' && (
        <span class="quiet" id={hintId}>
          {hint}
        </span>
      )}
      {among && (
        <datalist id={listId}>
          {among.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </span>
  )
}

/**
 * A table that scrolls sideways where it is wider than its place, or as a whole as the list of a view. A heading is a text, or a
 * text with the class of its column. The cell in the column `by` is the heading of its row.
 */
export function Table({
  caption,
  label = caption ?? '',
  heads,
  rows,
  by = 0,
  class: className = '',
  list,
  children,
}: Readonly<{
  class?: string
  caption?: string
  /** Its name, where that is not its caption. */
  label?: string
  heads: readonly (string | readonly [text: string, className: string])[]
  rows: readonly (readonly ComponentChildren[])[]
  by?: number
  /** In a list, one row can be open, and a click opens one. */
  list?: { readonly open: number; readonly choose: (row: number) => void }
  children?: ComponentChildren
}>) {
  const columns = heads.map((head) => (typeof head === 'string' ? ([head, ''] as const) : head))
  return (
    <div class={list ? 'scroll' : 'scroll-x'} tabIndex={0} role="region" aria-label={label}>
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
            <tr key={row} class={row === list?.open ? 'open' : ''} onClick={list && (() => list.choose(row))}>
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
      {children}
    </div>
  )
}

/** A path into a document, which breaks after its parts. */
export function Path({ path }: Readonly<{ path: string }>) {
  return (
    <code>
      {breakable(path).map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </code>
  )
}

export function CopyButton({ text, label = 'Copy' }: Readonly<{ text: () => string; label?: string }>) {
  const [copied, setCopied] = useState(false)
  const copy = (): void => {
    void navigator.clipboard.writeText(text()).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    })
  }
  return <SmallButton label={<span aria-live="polite">{copied ? 'Copied' : label}</span>} onClick={copy} />
}

/** An id, which a click copies. */
export function Id({ id }: Readonly<{ id: string }>) {
  return (
    <span class="row wrap">
      <code>{id}</code> <CopyButton text={() => id} />
    </span>
  )
}

/** A part of a view that can be collapsed. */
export function Section({
  title,
  children,
  open = true,
  note,
  level = 3,
  onToggle,
  class: className = '',
}: Readonly<{
  class?: string
  title: string
  children: ComponentChildren
  open?: boolean
  onToggle?: (open: boolean) => void
  note?: ComponentChildren
  /** The level of its heading: 2 in a page, 3 in a detail. */
  level?: 2 | 3
}>) {
  const Heading = `h${level}` as const
  return (
    <details
      class={`section ${level === 2 ? 'card' : ''} ${className}`}
      open={open}
      onToggle={onToggle && ((event) => onToggle(event.currentTarget.open))}
    >
      <summary class="row">
        <Heading>{title}</Heading>
        <span class="space" />
        <small>{note}</small>
      </summary>
      <div class="column section-body">{children}</div>
    </details>
  )
}

/** The search field in a row of controls; `/` moves the focus there. */
export function SearchField({
  label,
  value,
  onInput,
}: Readonly<{ label: string; value: string; onInput: (value: string) => void }>) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => listen({ '/': () => field.current?.focus() }), [])
  return (
    <input
      ref={field}
      type="search"
      class="search"
      aria-label={label}
      placeholder="Search  /"
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  )
}

/** The name of the open item, which the title of the page has. */
export const openItem = signal('')

/** The open item beside a list. It takes the focus, so that the next Tab goes to its first button. */
export function Detail({
  label,
  name = label,
  title,
  close,
  children,
}: Readonly<{
  label: string
  name?: string | undefined
  title: ComponentChildren
  close: () => void
  children: ComponentChildren
}>) {
  useEffect(() => {
    openItem.value = name
    return () => {
      openItem.value = ''
    }
  }, [name])
  const section = useRef<HTMLElement>(null)
  useEffect(() => section.current?.focus({ preventScroll: true }), [])
  return (
    <section ref={section} class="column detail" aria-label={label} tabIndex={-1}>
      <header class="row detail-head">
        <div class="row wrap detail-title">{title}</div>
        <SmallButton label="Close" onClick={close} />
      </header>
      {children}
    </section>
  )
}

/** Takes the place of a value that is not loaded, with the error when loading failed. `gone` says that it does not exist. */
export function Loading({ error, gone }: Readonly<{ error?: ApiError | undefined; gone?: string }>) {
  return error?.status === 404 && gone !== undefined ? (
    <Empty title={gone}>
      <p>{error.message}</p>
    </Empty>
  ) : error ? (
    <Problem error={error} />
  ) : (
    <p class="notice" role="status">
      <Icon name="refresh" />
      Loading…
    </p>
  )
}

/** A modal dialog; Escape and a click beside it close it. */
export function Dialog({
  title,
  onClose,
  children,
}: Readonly<{ title: string; onClose: () => void; children: ComponentChildren }>) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close()
      }}
    >
      <div class="column card dialog">
        <header class="row">
          <h2 id={id}>{title}</h2>
          <SmallButton label="Close" onClick={() => dialog.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** A JSON value. Objects and lists below the first level can be collapsed. */
export function Json({ value }: Readonly<{ value: unknown }>) {
  if (value === null) return <p class="quiet">none</p>
  if (typeof value === 'string') {
    return (
      <pre class="code mono json" tabIndex={0}>
        {value}
      </pre>
    )
  }
  return (
    <div class="code mono json" tabIndex={0} role="group" aria-label="JSON">
      <JsonNode value={value} depth={0} />
    </div>
  )
}

/** Objects and lists at this depth or with more members than this start collapsed. */
const COLLAPSED_DEPTH = 3
const MAX_EXPANDED = 40

function JsonNode({ value, name, depth }: Readonly<{ value: unknown; name?: string; depth: number }>): JSX.Element {
  const label = name !== undefined && <span class="code-key">{name}: </span>
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
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
  const known = facts.filter(([, value]) => value !== null && value !== undefined)
  return (
    <dl class="column facts">
      {known.map(([name, value], at) => (
        <div key={at}>
          <dt class="quiet">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A button that asks before it acts. */
export function Confirmed({
  title,
  text,
  act,
  ...attributes
}: ButtonAttributes & { readonly title: string; readonly text: string; readonly act: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const close = (): void => setAsking(false)
  return (
    <>
      <Button {...attributes} onClick={() => setAsking(true)} />
      {isAsking && (
        <Dialog title={title} onClose={close}>
          <p>{text}</p>
          <div class="buttons">
            <Button
              label={attributes.label}
              class="primary"
              onClick={() => {
                act()
                close()
              }}
            />
            <Button label="Cancel" onClick={close} />
          </div>
        </Dialog>
      )}
    </>
  )
}
