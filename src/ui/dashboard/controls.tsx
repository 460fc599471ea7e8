import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { withVisibleDirections } from '../../model/domain/text.ts'
import { notice, perform } from './actions.ts'
import { type ApiError, useAction } from './api.ts'
import { route, setParameters } from './hash-route.ts'
import { Icon } from './icons.tsx'
import { listen } from './keyboard.ts'

type Attributes<Tag extends keyof JSX.IntrinsicElements> = Omit<JSX.IntrinsicElements[Tag], 'class' | 'label'>

type ButtonAttributes = Omit<Attributes<'button'>, 'disabled'> & {
  readonly label: ComponentChildren
  readonly class?: string
  readonly disabled?: boolean
  /** What it does, once at a time. */
  readonly act?: () => unknown
}

/** A button that submits no form. */
export function Button({ label, act, disabled = false, ...attributes }: ButtonAttributes) {
  const [busy, setBusy] = useState(false)
  const press = (): void => {
    setBusy(true)
    if (act) void perform(act).then(() => setBusy(false))
  }
  return (
    <button type="button" {...attributes} {...(act && { onClick: press })} disabled={disabled || busy}>
      {label}
    </button>
  )
}

export function SmallButton({ class: tone = '', ...attributes }: ButtonAttributes) {
  return <Button {...attributes} class={`small ${tone}`} />
}

/** A link that looks like a small button. */
export function LinkButton({
  label,
  ...attributes
}: Readonly<{ label: string; href: string; target?: '_blank'; rel?: string }>) {
  return (
    <a {...attributes} class="button small">
      {label}
    </a>
  )
}

export function ProblemNote({ error }: Readonly<{ error?: Pick<ApiError, 'message'> | undefined }>) {
  if (!error) return null
  return (
    <p class="notice problem error" role="alert">
      <Icon name="alert" />
      {error.message}
    </p>
  )
}

/** A form that the page itself carries out, with its button. One that is `inline` is a row of small controls. */
export function Form({
  label,
  inline = false,
  disabled = false,
  submit,
  children,
  ...attributes
}: Attributes<'form'> & {
  readonly label: string
  readonly inline?: boolean
  readonly disabled?: boolean
  readonly submit: () => unknown
}) {
  const { busy, error, run } = useAction()
  return (
    <form
      {...attributes}
      class={inline ? 'buttons' : ''}
      onSubmit={(event) => {
        event.preventDefault()
        run(submit)
      }}
    >
      {children}
      <button class={inline ? 'small' : 'primary'} disabled={disabled || busy}>
        {label}
      </button>
      <ProblemNote error={error} />
    </form>
  )
}

/** The value of a choice, and its text. */
export type Options = readonly (readonly [value: string, text: string])[]

/** A choice that is a parameter of the route; the empty value is absent there. */
export function ChoiceField({
  name,
  label,
  options,
  value = route.value.parameters[name] ?? '',
}: Readonly<{ name: string; label: string; options: Options; value?: string }>) {
  const choose = (next: string): void => setParameters({ [name]: next, from: '' })
  return <Field label={label} value={value} options={options} onInput={choose} />
}

/** Lets the user choose a file. */
export function chooseFile(accept: string, use: (file: File) => unknown): void {
  const input = document.createElement('input')
  Object.assign(input, { type: 'file', accept })
  input.onchange = () => {
    const [file] = input.files ?? []
    if (file) void perform(() => use(file))
  }
  input.click()
}

/** A field with its label and, below it, a hint: a choice with `options`, a text area with `rows`, else an input. */
export function Field({
  label,
  note = '',
  options,
  rows,
  among,
  hint = '',
  wrap = options ? 'choice' : 'field',
  type = 'text',
  onInput,
  ...attributes
}: Readonly<{
  label: string
  /** Beside the label. */
  note?: string
  value: string
  onInput: (value: string) => void
  options?: Options | undefined
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
      <label for={id}>
        {label} <span class="quiet">{note}</span>
      </label>
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

/** The search field in a row of controls, for the parameter `q` of the route; `/` moves the focus there. */
export function SearchField({ label }: Readonly<{ label: string }>) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => listen({ '/': () => field.current?.focus() }), [])
  return (
    <input
      ref={field}
      type="search"
      class="search"
      aria-label={label}
      placeholder="Search  /"
      value={route.value.parameters['q'] ?? ''}
      onInput={(event) => setParameters({ q: event.currentTarget.value, from: '' })}
    />
  )
}

/** Copies a text, also off loopback without HTTPS, where there is no clipboard to write to. */
function copyText(text: string): void {
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

/** Copies a text; the label of its button says so for a moment. */
export function useCopy(label = 'Copy'): readonly [label: string, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false)
  const copy = (text: string): void => {
    copyText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return [copied ? 'Copied' : label, copy]
}

export function CopyButton({ text, label }: Readonly<{ text: () => string; label?: string }>) {
  const [shownLabel, copy] = useCopy(label)
  return <SmallButton label={<span aria-live="polite">{shownLabel}</span>} onClick={() => copy(text())} />
}

type MenuItem = readonly [label: string, act: () => unknown]

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
              void perform(act)
            }}
          />
        ))}
      </div>
    </details>
  )
  if (!first) return list
  return (
    <span class="row joined">
      <SmallButton label={`${label}: ${first[0].split(' ', 1).join()}`} title={first[0]} act={first[1]} />
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

export function Notice() {
  const { value: current } = notice
  const close = (): void => {
    notice.value = undefined
  }
  const buttons = current?.actions?.map(([label, act]) => (
    <SmallButton
      key={label}
      label={label}
      class={current.title === undefined ? '' : 'primary'}
      onClick={() => {
        close()
        void perform(act)
      }}
    />
  ))
  if (current?.title !== undefined)
    return (
      <Dialog title={current.title} onClose={close}>
        <p>{current.text}</p>
        <div class="buttons">{buttons}</div>
      </Dialog>
    )
  return (
    <div class={`row wrap message ${current ? 'card' : ''}`} role="status">
      {current && (
        <>
          <span class={current.isError ? 'problem' : ''}>{current.text}</span>
          {buttons}
          <SmallButton label="✕" aria-label="Close the message" onClick={close} />
        </>
      )}
    </div>
  )
}
