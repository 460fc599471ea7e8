import { useState } from 'preact/hooks'
import { plural } from '../domain/text.ts'
import { call, type Schemas } from './api.ts'
import { momentOf } from './format.ts'
import { Confirm, Form, Problem, Section, Small, Table, Tag, TextField } from './parts.tsx'
import { setParameters, route } from './hash-route.ts'
import { inEnvironment, useAction, useApi } from './use-api.ts'

export function Snapshots() {
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
      <Form class="buttons" submit={() => change('PUT', `/snapshots/${encodeURIComponent(name)}`)}>
        <TextField label="Name" wrap="choice" value={name} placeholder="before" onText={setName} />
        <button disabled={name === '' || action.busy}>Save a snapshot</button>
      </Form>
      <Problem error={error ?? action.error} />
      {value?.snapshots.length === 0 && (
        <p class="quiet">No snapshot yet. A snapshot saves accounts, settings and the clock.</p>
      )}
      <ul class="plain snapshots">
        {value?.snapshots.map(({ name: each, taken_at }) => (
          <li key={each}>
            <strong>{each}</strong> <span class="quiet mono">{momentOf(taken_at)}</span>
            <span class="space" />
            <Small
              aria-pressed={chosen === each}
              onClick={() => setParameters({ snapshot: chosen === each ? '' : each })}
            >
              What changed since
            </Small>
            <Small disabled={action.busy} onClick={() => setToRestore(each)}>
              Restore
            </Small>
            <Small
              disabled={action.busy}
              aria-label={`Delete the snapshot ${each}`}
              onClick={() => change('DELETE', `/snapshots/${encodeURIComponent(each)}`)}
            >
              Delete
            </Small>
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

function Diff({ name }: Readonly<{ name: string }>) {
  const { value, error } = useApi<Schemas['StateDiff']>('/state/diff', { snapshot: name })
  if (error) return <Problem error={error} />
  if (!value) return null
  const { added, removed, changed, settings } = value
  if (added.length + removed.length + changed.length + settings.length === 0) {
    return <p class="quiet">No changes since {name}.</p>
  }
  return (
    <Table
      label={`What changed since ${name}`}
      caption={`What changed since ${name}`}
      class="diff"
      heads={['Change', 'Row', 'Field', 'Before', 'Now']}
    >
      {added.map(({ table, id }) => (
        <Change key={`+${table}${id}`} sign="added" tone="success" row={`${table} ${id}`} />
      ))}
      {removed.map(({ table, id }) => (
        <Change key={`-${table}${id}`} sign="removed" tone="error" row={`${table} ${id}`} />
      ))}
      {changed.flatMap(({ table, id, fields }) =>
        fields.map((field) => (
          <Change key={`${table}${id}${field.field}`} sign="changed" tone="info" row={`${table} ${id}`} field={field} />
        )),
      )}
      {settings.map((field) => (
        <Change key={field.field} sign="changed" tone="info" row="settings" field={field} />
      ))}
    </Table>
  )
}

function Change({
  sign,
  tone,
  row,
  field,
}: Readonly<{ sign: string; tone: string; row: string; field?: Schemas['FieldChange'] }>) {
  return (
    <tr>
      <td>
        <Tag tone={tone}>{sign}</Tag>
      </td>
      <th scope="row" class="mono">
        {row}
      </th>
      <td class="mono">{field?.field}</td>
      <td class="mono">{shown(field?.before)}</td>
      <td class="mono">{shown(field?.after)}</td>
    </tr>
  )
}

function shown(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
