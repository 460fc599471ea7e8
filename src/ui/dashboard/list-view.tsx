import { type ComponentChildren, Fragment } from 'preact'
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { capitalise, plural } from '../../model/domain/text.ts'
import type { ApiError } from './api.ts'
import { Empty, Loading, RowTable } from './content.tsx'
import { Button, Dialog, LinkButton, ProblemNote, SearchField, SmallButton } from './controls.tsx'
import { closeItem, go, linkTo, NEW, route, setParameters, type View, VIEWS } from './hash-route.ts'
import { useListNavigation } from './keyboard.ts'

/** A column of a list, whose heading sorts by the parameter `sort` of the route. */
export interface ListColumn<Row> {
  readonly title: string
  /** What it is sorted by, and shown where it has no `cell`. */
  readonly value?: (row: Row) => string | number
  /** The word of the parameter `sort` by which the server sorts. */
  readonly sort?: string
  readonly cell?: (row: Row) => ComponentChildren
  readonly class?: string
  /** In pixels; the first column has the remaining room. */
  readonly width?: number
}

/** The first column has the name of the row. */
export type Columns<Row> = readonly [
  ListColumn<Row> & { readonly value: NonNullable<ListColumn<Row>['value']> },
  ...ListColumn<Row>[],
]

/** The list of a view with its search, and the open item beside it. */
export function ListView<Row>({
  view,
  noun,
  rows,
  columns,
  idOf,
  textOf,
  hrefOf,
  label = VIEWS[view].title,
  total = rows?.length ?? 0,
  note = plural(total, noun),
  error,
  controls,
  newLabel = '',
  newForm,
  empty,
  open,
  detail,
  children,
}: Readonly<{
  view: View
  noun: string
  /** Undefined while they are loaded. */
  rows: readonly Row[] | undefined
  columns: Columns<Row>
  idOf: (row: Row) => string
  /** What is searched; the server searches where it is absent. */
  textOf?: (row: Row) => string
  /** Where the name of a row leads, for rows that do not open beside the list; undefined for nowhere. */
  hrefOf?: (row: Row) => string | undefined
  label?: string | undefined
  total?: number
  note?: ComponentChildren
  error?: ApiError | undefined
  controls?: ComponentChildren
  /** What leads to the item {@link NEW}, and the form for it, which is a dialog; without a form it is an open item. */
  newLabel?: string
  newForm?: ComponentChildren
  /** Instead of a list that is empty without a filter. */
  empty?: ComponentChildren
  /** The open row beside the list. */
  open?: (row: Row) => ComponentChildren
  /** The open item, which is not read from the rows. */
  detail?: (id: string) => ComponentChildren
  /** Below the list, also while it is empty. */
  children?: ComponentChildren
}>) {
  const { id, parameters } = route.value
  const { q = '', sort = '' } = parameters
  const searched = q.toLowerCase()
  const matching = textOf ? rows?.filter((row) => textOf(row).toLowerCase().includes(searched)) : rows
  const column = columns.find((each) => sortKeyOf(each) === sort.replace(/^-/, '') && each.sort === undefined)
  const ordered = sortedBy(matching ?? [], column?.value, sort)
  useListNavigation(ordered.length, closeItem)
  const nameOf = (row: Row): string => String(columns[0].value(row))
  const nameLink = (row: Row, at: number) => {
    const href = hrefOf ? hrefOf(row) : linkTo(view, idOf(row), { ...parameters, tab: '' })
    const [name, isOpen] = [nameOf(row), id !== '' && idOf(row) === id]
    if (href === undefined) return <span title={name}>{name}</span>
    return (
      <a href={href} data-row={at} aria-current={isOpen ? 'true' : undefined} title={name}>
        {name}
      </a>
    )
  }
  const openRow = rows?.find((row) => idOf(row) === id)
  return (
    <div class="split">
      <div class="column list-side">
        <div class="buttons controls" role="search" aria-label={VIEWS[view].title}>
          <SearchField label={`Search ${VIEWS[view].title.toLowerCase()}`} />
          {controls}
          {newLabel !== '' && <LinkButton label={newLabel} href={linkTo(view, NEW, parameters)} />}
          <span class="space" />
          <small>{note}</small>
        </div>
        <ProblemNote error={error} />
        {rows && ordered.length === 0 ? (
          (total === 0 && empty) || <Empty title={`No ${noun} matches.`} />
        ) : (
          <RowTable
            label={label}
            scroll="scroll"
            heads={columns.map((each) => [
              each.title,
              each.class,
              {
                width: each.width,
                order: directionOf(sortKeyOf(each), sort),
                sort: (each.value ?? each.sort) && <SortButton title={each.title} name={sortKeyOf(each)} />,
              },
            ])}
            keys={ordered.map(idOf)}
            rows={ordered.map((row, at) => [
              <>
                {nameLink(row, at)}
                {columns[0].cell?.(row)}
              </>,
              ...columns.slice(1).map(({ value, cell }) => (cell ?? value)?.(row)),
            ])}
          />
        )}
        {children}
      </div>
      {newForm && id === NEW && (
        <Dialog title={newLabel} onClose={() => go(view)}>
          {newForm}
        </Dialog>
      )}
      {id !== '' && (
        <Fragment key={id}>
          {detail?.(id)}
          {open && rows && (
            <Detail label={capitalise(noun)} name={openRow ? nameOf(openRow) : id} value={openRow}>
              {(row) => <div class="column sent">{open(row)}</div>}
            </Detail>
          )}
        </Fragment>
      )}
    </div>
  )
}

function sortKeyOf<Row>({ sort, title }: ListColumn<Row>): string {
  return sort ?? title.toLowerCase()
}

function directionOf(name: string, sort: string): 'ascending' | 'descending' | undefined {
  return sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined
}

/** The heading of a column: it sorts first the smallest, then the greatest, then as it was. */
export function SortButton({ title, name }: Readonly<{ title: string; name: string }>) {
  const direction = directionOf(name, route.value.parameters['sort'] ?? '')
  const [arrow, next] =
    direction === undefined ? ['', name] : direction === 'ascending' ? [' ▲', `-${name}`] : [' ▼', '']
  return (
    <Button
      class="link"
      label={`${title}${arrow}`}
      title={`Sort by ${title.toLowerCase()}`}
      aria-pressed={direction !== undefined}
      onClick={() => setParameters({ sort: next, from: '' })}
    />
  )
}

/** The rows by what a column has; a minus sign before the name of the column is for the greatest first. */
export function sortedBy<Row>(
  rows: readonly Row[],
  value: ((row: Row) => string | number) | undefined,
  sort: string,
): readonly Row[] {
  if (!value) return rows
  const sign = sort.startsWith('-') ? -1 : 1
  const keyed = rows.map((row) => [value(row), row] as const)
  return keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, row]) => row)
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
