import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { plural } from '../domain/text.ts'
import type { Schemas } from './api.ts'
import { momentOf } from './format.ts'
import { change } from './live.ts'
import { Confirmed, Form, Problem, Section, Small, Table, Tag, TextField } from './parts.tsx'
import { setParameters, route } from './hash-route.ts'
import { pathOf, useAction, useApi } from './use-api.ts'

export function Snapshots() {
  const { value, error } = useApi<Schemas['Snapshots']>('/snapshots')
  const [name, setName] = useState('')
  const action = useAction()
  const chosen = route.value.parameters['snapshot'] ?? ''
  const send = (method: string, ...path: readonly string[]): void =>
    action.run(async () => {
      await change(method, pathOf('snapshots', ...path))
      setName('')
    })
  return (
    <Section level={2} title="Snapshots" note={value ? plural(value.snapshots.length, 'snapshot') : undefined}>
      <Form class="buttons" submit={() => send('PUT', name)}>
        <TextField label="Name" wrap="choice" value={name} placeholder="before" onText={setName} />
        <button disabled={name === '' || action.busy}>Save a snapshot</button>
      </Form>
      <Problem error={error ?? action.error} />
      {value?.snapshots.length === 0 && (
        <p class="quiet">No snapshot yet. A snapshot saves accounts, settings and the clock.</p>
      )}
      <ul class="column">
        {value?.snapshots.map(({ name: each, taken_at }) => (
          <li key={each} class="row wrap">
            <strong>{each}</strong> <span class="quiet mono">{momentOf(taken_at)}</span>
            <span class="space" />
            <Small
              label="What changed since"
              aria-pressed={chosen === each}
              onClick={() => setParameters({ snapshot: chosen === each ? '' : each })}
            />
            <Confirmed
              label="Restore"
              class="small"
              disabled={action.busy}
              title={`Restore ${each}?`}
              text="Accounts, settings and the clock go back to the snapshot. Later changes are lost."
              act={() => send('POST', each, 'restore')}
            />
            <Small
              label="Delete"
              disabled={action.busy}
              aria-label={`Delete the snapshot ${each}`}
              onClick={() => send('DELETE', each)}
            />
          </li>
        ))}
      </ul>
      {chosen !== '' && <Diff name={chosen} />}
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
  const change = (row: string, { field, before, after }: Schemas['FieldChange']): ComponentChildren[] => {
    return [<Tag tone="info">changed</Tag>, row, field, shown(before), shown(after)]
  }
  return (
    <Table
      caption={`What changed since ${name}`}
      class="diff"
      heads={['Change', ['Row', 'mono'], ['Field', 'mono'], ['Before', 'mono'], ['Now', 'mono']]}
      by={1}
      rows={[
        ...added.map(({ table, id }) => [<Tag tone="success">added</Tag>, `${table} ${id}`, '', '', '']),
        ...removed.map(({ table, id }) => [<Tag tone="error">removed</Tag>, `${table} ${id}`, '', '', '']),
        ...changed.flatMap(({ table, id, fields }) => fields.map((field) => change(`${table} ${id}`, field))),
        ...settings.map((field) => change('settings', field)),
      ]}
    />
  )
}

function shown(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
