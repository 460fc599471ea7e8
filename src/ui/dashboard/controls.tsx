import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { withVisibleDirections } from '../../model/domain/text.ts'
import { listen } from './keyboard.ts'

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
  /** In a dialog, which gives the focus to its first button else. */
  autofocus?: boolean
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
      {/* A field has its value as it is, in which such signs turn what is read. */}
      {!options && withVisibleDirections(attributes.value) !== attributes.value && (
        <span class="expired">{attributes.value}</span>
      )}
      {hint !== '' && (
        <span class="quiet" id={hintId}>
          {hint}
        </span>
      )}
      {among && (
        <datalist id={listId}>
          {among.map((each) => (
            <option key={each} value={each} label={each} />
          ))}
        </datalist>
      )}
    </span>
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

/** Copies a text, also off loopback without HTTPS, where there is no clipboard to write to. */
export function copyText(text: string): void {
  // The absence of the clipboard is unknown to the types.
  const { clipboard } = navigator as { clipboard?: Clipboard }
  if (clipboard) return void clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  const { activeElement: before } = document
  // What is outside of a modal dialog takes no focus.
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(area)
  area.select()
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way to copy at such an address
  document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
}

export function CopyButton({ text, label = 'Copy' }: Readonly<{ text: () => string; label?: string }>) {
  const [copied, setCopied] = useState(false)
  const copy = (): void => {
    copyText(text())
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return <SmallButton label={<span aria-live="polite">{copied ? 'Copied' : label}</span>} onClick={copy} />
}

type MenuItem = readonly [label: string, act: () => void]

/** A button that opens a list of actions above it. With `first`, the button does that one, and a second one opens the list. */
export function Menu({
  label,
  first,
  items,
}: Readonly<{ label: string; first?: MenuItem; items: readonly MenuItem[] }>) {
  const end = ({ currentTarget: menu }: { currentTarget: HTMLDetailsElement }): void => {
    menu.open = false
  }
  const list = (
    <details
      class="menu"
      onFocusOut={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) end(event)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !event.currentTarget.open) return
        event.preventDefault()
        end(event)
        event.currentTarget.querySelector('summary')?.focus()
      }}
    >
      <summary class="button small">
        <span class={first && 'visually-hidden'} aria-live="polite">
          {label}
        </span>{' '}
        ▾
      </summary>
      <div class="column card">
        {items.map(([text, act]) => (
          <Button
            key={text}
            label={text}
            onClick={({ currentTarget }) => {
              const menu = currentTarget.closest('details')
              if (menu) menu.open = false
              menu?.querySelector('summary')?.focus()
              act()
            }}
          />
        ))}
      </div>
    </details>
  )
  if (!first) return list
  return (
    <span class="row joined">
      <SmallButton label={`${label}: ${first[0].split(' ', 1).join()}`} title={first[0]} onClick={first[1]} />
      {list}
    </span>
  )
}

/** Opens a menu by its label, with the focus on its first action. */
export function openMenu(label: string): void {
  const menu = [...document.querySelectorAll<HTMLDetailsElement>('.menu')].find((each) =>
    each.innerText.startsWith(label),
  )
  if (!menu) return
  menu.open = true
  menu.querySelector('button')?.focus()
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
