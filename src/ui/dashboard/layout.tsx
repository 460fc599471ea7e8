import type { ComponentChildren } from 'preact'
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type ApiError, serverUrl } from './api.ts'
import { Button, CopyButton, ProblemNote, SmallButton } from './controls.tsx'
import { ALL, closeItem, environment, setParameters } from './hash-route.ts'
import { Icon } from './icons.tsx'

/** Takes the place of a value that is not loaded, with the error when loading failed. `gone` says that it does not exist. */
export function Loading({ error, gone }: Readonly<{ error?: ApiError | undefined; gone?: string }>) {
  return error?.status === 404 && gone !== undefined ? (
    <Empty title={gone}>
      <p>{error.message}</p>
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

/** The name of the open item, which the title of the page has. */
export const openItem = signal('')

/** The open item beside a list. It takes the focus, so that the next Tab goes to its first button. */
export function Detail<Value>({
  label,
  name = label,
  heading = name,
  tags,
  value,
  error,
  gone = `There is no such ${label.toLowerCase()}.`,
  children,
  footer,
}: Readonly<{
  label: string
  /** Its name, which the title of the page has. */
  name?: string | undefined
  heading?: string | undefined
  /** Around the heading. */
  tags?: readonly [before: ComponentChildren, after: ComponentChildren] | undefined
  /** What it shows; undefined until it is loaded. What was removed stays until it is closed. */
  value: Value | undefined
  error?: ApiError | undefined
  gone?: string
  children: (value: Value) => ComponentChildren
  footer?: ComponentChildren
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
        <div class="row wrap detail-title">
          {tags?.[0]}
          <h2>{heading}</h2>
          {tags?.[1]}
        </div>
        <SmallButton label="Close" onClick={closeItem} />
      </header>
      <div class="detail-body">
        {(value === undefined || error?.status === 404) && <Loading error={error} gone={gone} />}
        {value !== undefined && children(value)}
      </div>
      {footer}
    </section>
  )
}

/** Tabs, whose name is the parameter `tab` of the route; the first one has none. */
export function Tabs({
  label,
  tabs,
  tab,
}: Readonly<{ label: string; tabs: readonly (readonly [name: string, text: string])[]; tab: string }>) {
  return (
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
  )
}

export function openTab(name: string): void {
  setParameters({ tab: name })
  document.querySelector('.tabs')?.scrollIntoView({ block: 'start' })
}
