import { useId, useState } from 'preact/hooks'
import { plural } from '../domain/text.ts'
import { call, type Schemas } from './api.ts'
import { momentOf } from './format.ts'
import { Confirm, Problem, Section, Tag } from './parts.tsx'
import { setParameters, route } from './hash-route.ts'
import { inEnvironment, useAction, useApi } from './use-api.ts'

/** Saves, restores and deletes snapshots, and shows the changes since a snapshot. */
export function Snapshots() {
  const id = useId()
  const { value, error, reload } = useApi<Schemas['Snapshots']>('/snapshots')
  const [name, setName] = useState('')
  const [toRestore, setToRestore] = useState('')
  const action = useAction()
  const chosen = route.value.parameters['snapshot'] ?? ''
  const change = (method: string, path: string): void =>
    action.run(async () => {
      await call(method, path, { query: inEnvironment() })
      setName('')
      reload()
    })
  return (
    <Section level={2} title="Snapshots" note={value ? plural(value.snapshots.length, 'snapshot') : undefined}>
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault()
          change('PUT', `/snapshots/${encodeURIComponent(name)}`)
        }}
      >
        <span class="choice">
          <label for={id}>Name</label>
          <input
            id={id}
            value={name}
            autocomplete="off"
            placeholder="before"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </span>
        <button disabled={name === '' || action.busy}>Save a snapshot</button>
      </form>
      <Problem error={error ?? action.error} />
      {value?.snapshots.length === 0 && (
        <p class="quiet">No snapshot yet. A snapshot saves accounts, settings and the clock.</p>
      )}
      <ul class="plain snapshots">
        {value?.snapshots.map(({ name: each, taken_at }) => (
          <li key={each}>
            <strong>{each}</strong> <span class="quiet mono">{momentOf(taken_at)}</span>
            <span class="space" />
            <button
              type="button"
              class="small"
              aria-pressed={chosen === each}
              onClick={() => setParameters({ snapshot: chosen === each ? '' : each })}
            >
              What changed since
            </button>
            <button type="button" class="small" disabled={action.busy} onClick={() => setToRestore(each)}>
              Restore
            </button>
            <button
              type="button"
              class="small"
              disabled={action.busy}
              aria-label={`Delete the snapshot ${each}`}
              onClick={() => change('DELETE', `/snapshots/${encodeURIComponent(each)}`)}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
      {chosen !== '' && <Diff name={chosen} />}
      {toRestore !== '' && (
        <Confirm
          title={`Restore ${toRestore}?`}
          text="Accounts, settings and the clock go back to the snapshot. Later changes are lost."
          label="Restore"
          close={() => setToRestore('')}
          act={() => change('POST', `/snapshots/${encodeURIComponent(toRestore)}/restore`)}
        />
      )}
    </Section>
  )
}

function Diff({ name }: { readonly name: string }) {
  const { value, error } = useApi<Schemas['StateDiff']>('/state/diff', { snapshot: name })
  if (error) return <Problem error={error} />
  if (!value) return null
  const { added, removed, changed, settings } = value
  if (added.length + removed.length + changed.length + settings.length === 0) {
    return <p class="quiet">No changes since {name}.</p>
  }
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={`What changed since ${name}`}>
      <table class="diff">
        <caption>What changed since {name}</caption>
        <thead>
          <tr>
            <th scope="col">Change</th>
            <th scope="col">Row</th>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {added.map((row) => (
            <EntityRow key={`+${row.table}${row.id}`} sign="added" tone="success" table={row.table} id={row.id} />
          ))}
          {removed.map((row) => (
            <EntityRow key={`-${row.table}${row.id}`} sign="removed" tone="error" table={row.table} id={row.id} />
          ))}
          {changed.flatMap(({ table, id, fields }) =>
            fields.map((field) => (
              <FieldRow key={`${table}${id}${field.field}`} row={`${table} ${id}`} field={field} />
            )),
          )}
          {settings.map((field) => (
            <FieldRow key={field.field} row="settings" field={field} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function EntityRow({
  sign,
  tone,
  table,
  id,
}: {
  readonly sign: string
  readonly tone: string
  readonly table: string
  readonly id: string
}) {
  return (
    <tr>
      <td>
        <Tag tone={tone}>{sign}</Tag>
      </td>
      <th scope="row" class="mono">
        {table} {id}
      </th>
      <td />
      <td />
      <td />
    </tr>
  )
}

function FieldRow({ row, field }: { readonly row: string; readonly field: Schemas['FieldChange'] }) {
  return (
    <tr>
      <td>
        <Tag tone="info">changed</Tag>
      </td>
      <th scope="row" class="mono">
        {row}
      </th>
      <td class="mono">{field.field}</td>
      <td class="mono">{shown(field.before)}</td>
      <td class="mono">{shown(field.after)}</td>
    </tr>
  )
}

function shown(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
