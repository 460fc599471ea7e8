import { type ComponentChildren, Fragment } from 'preact'
import type { ApiError } from './api.ts'
import { capitalise, plural } from '../../model/domain/text.ts'
import { Button, ProblemNote, SearchField } from './controls.tsx'
import { Detail, Empty } from './layout.tsx'
import { closeItem, linkTo, route, setParameters, type View, VIEWS } from './hash-route.ts'
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
  empty,
  open,
  detail,
  children,
  footer,
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
  /** Instead of a list that is empty without a filter. */
  empty?: ComponentChildren
  /** The open row beside the list. */
  open?: (row: Row) => ComponentChildren
  /** The open item, which is not read from the rows. */
  detail?: (id: string) => ComponentChildren
  /** Below the rows. */
  children?: ComponentChildren
  /** At the bottom of the list, which is also there while it is empty. */
  footer?: ComponentChildren
}>) {
  const { id, parameters } = route.value
  const { q = '', sort = '' } = parameters
  const searched = q.toLowerCase()
  const matching = textOf ? rows?.filter((row) => textOf(row).toLowerCase().includes(searched)) : rows
  const column = columns.find((each) => sortKeyOf(each) === sort.replace(/^-/, '') && each.sort === undefined)
  const ordered = sortedBy(matching ?? [], column?.value, sort)
  useListNavigation(ordered.length, closeItem)
  const nameOf = (row: Row): string => String(columns[0].value(row))
  const addressOf = (row: Row): string | undefined =>
    hrefOf ? hrefOf(row) : linkTo(view, idOf(row), { ...parameters, tab: '' })
  const openRow = rows?.find((row) => idOf(row) === id)
  return (
    <div class="split">
      <div class="column list-side">
        <div class="buttons controls" role="search" aria-label={VIEWS[view].title}>
          <SearchField label={`Search ${VIEWS[view].title.toLowerCase()}`} />
          {controls}
          <span class="space" />
          <small>{note}</small>
        </div>
        <ProblemNote error={error} />
        {rows && ordered.length === 0 ? (
          (total === 0 && empty) || <Empty title={`No ${noun} matches.`} />
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label={label}>
            <table class="stacked">
              <thead>
                <tr>
                  {columns.map((each) => (
                    <th
                      key={each.title}
                      scope="col"
                      class={each.class}
                      style={each.width === undefined ? {} : { width: `${each.width}px` }}
                      aria-sort={directionOf(sortKeyOf(each), sort)}
                    >
                      {each.value || each.sort ? <SortButton title={each.title} name={sortKeyOf(each)} /> : each.title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {ordered.map((row, at) => {
                  const [href, isOpen] = [addressOf(row), id !== '' && idOf(row) === id]
                  return (
                    <tr
                      key={idOf(row)}
                      class={isOpen ? 'open' : ''}
                      onClick={({ target }) => {
                        const isControl = (target as Element).closest('a, button, input, select') !== null
                        if (!isControl && href !== undefined) location.hash = href
                      }}
                    >
                      {columns.map(({ title, class: name, value, cell }, index) =>
                        index === 0 ? (
                          <th key={title} scope="row" class={name} title={nameOf(row)}>
                            {href === undefined ? (
                              nameOf(row)
                            ) : (
                              <a href={href} data-row={at} aria-current={isOpen ? 'true' : undefined}>
                                {nameOf(row)}
                              </a>
                            )}
                            {cell?.(row)}
                          </th>
                        ) : (
                          <td key={title} class={name} data-label={title}>
                            {(cell ?? value)?.(row)}
                          </td>
                        ),
                      )}
                    </tr>
                  )
                })}
              </tbody>
            </table>
            {children}
          </div>
        )}
        {footer}
      </div>
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
