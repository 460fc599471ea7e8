import { type ComponentChildren, Fragment } from 'preact'
import type { ApiError } from './api.ts'
import { plural } from '../../model/domain/text.ts'
import { Button, SearchField } from './controls.tsx'
import { Empty, Problem } from './layout.tsx'
import { go, linkTo, route, setParameters, type View, VIEWS } from './hash-route.ts'
import { useListNavigation } from './keyboard.ts'

/** A column of a list. Its heading sorts by the parameter `sort` where it has `value`, or `sort`, by which the server sorts. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  readonly class?: string
  /** In pixels; the first column has the remaining room. */
  readonly width?: number
  readonly value?: (row: Row) => string | number
  readonly sort?: string
}

/** The list of a view with its search, and the open item beside it. The first column has the name of the item. */
export function ListView<Row>({
  view,
  noun,
  rows,
  columns,
  idOf,
  nameOf,
  textOf,
  hrefOf,
  label = VIEWS[view].title,
  total = rows?.length ?? 0,
  note = plural(total, noun),
  error,
  controls,
  empty,
  detail,
  children,
  footer,
}: Readonly<{
  view: View
  noun: string
  /** Undefined while they are loaded. */
  rows: readonly Row[] | undefined
  columns: readonly [Column<Row>, ...Column<Row>[]]
  idOf: (row: Row) => string
  nameOf: (row: Row) => string
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
  const ordered = sortedBy(matching ?? [], columns, sort)
  useListNavigation(ordered.length, () => go(view, '', parameters))
  const addressOf = (row: Row): string | undefined =>
    hrefOf ? hrefOf(row) : linkTo(view, idOf(row), { ...parameters, tab: '' })
  return (
    <div class="split">
      <div class="column list-side">
        <div class="buttons controls" role="search" aria-label={VIEWS[view].title}>
          <SearchField
            label={`Search ${VIEWS[view].title.toLowerCase()}`}
            value={q}
            onInput={(text) => setParameters({ q: text, from: '' })}
          />
          {controls}
          <span class="space" />
          <small>{note}</small>
        </div>
        <Problem error={error} />
        {rows && ordered.length === 0 ? (
          (total === 0 && empty) || <Empty title={`No ${noun} matches.`} />
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label={label}>
            <table class="stacked">
              <thead>
                <tr>
                  {columns.map((column) => (
                    <Head key={column.title} column={column} sort={sort} />
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
                      {columns.map(({ title, class: name, cell }, index) =>
                        index === 0 ? (
                          <th key={title} scope="row" class={name} title={nameOf(row)}>
                            {href === undefined ? (
                              nameOf(row)
                            ) : (
                              <a href={href} data-row={at} aria-current={isOpen ? 'true' : undefined}>
                                {nameOf(row)}
                              </a>
                            )}
                            {cell(row)}
                          </th>
                        ) : (
                          <td key={title} class={name} data-label={title}>
                            {cell(row)}
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
      {detail && id !== '' && <Fragment key={id}>{detail(id)}</Fragment>}
    </div>
  )
}

function keyOf<Row>({ sort, title }: Column<Row>): string {
  return sort ?? title.toLowerCase()
}

function Head<Row>({ column, sort }: Readonly<{ column: Column<Row>; sort: string }>) {
  const { title, class: name, width } = column
  const key = keyOf(column)
  const [isUp, isDown] = [sort === key, sort === `-${key}`]
  return (
    <th
      scope="col"
      class={name}
      style={width === undefined ? {} : { width: `${width}px` }}
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : undefined}
    >
      {column.value || column.sort ? (
        <Button
          class="link"
          label={`${title}${isUp ? ' ▲' : isDown ? ' ▼' : ''}`}
          title={`Sort by ${title.toLowerCase()}`}
          onClick={() => setParameters({ sort: isUp ? `-${key}` : isDown ? '' : key, from: '' })}
        />
      ) : (
        title
      )}
    </th>
  )
}

function sortedBy<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sort: string): readonly Row[] {
  const value = columns.find((column) => keyOf(column) === sort.replace(/^-/, ''))?.value
  if (!value) return rows
  const sign = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0))
}
