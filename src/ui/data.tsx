import { useId, useRef, useState } from 'preact/hooks'
import { plural, shorten } from '../domain/text.ts'
import { call, open, type Schemas } from './api.ts'
import { saveAs } from './download.ts'
import { momentOf } from './format.ts'
import { Choice, Dialog, Empty, Problem, Section, Status, Tag } from './parts.tsx'
import { adjust, environment, linkTo, place } from './place.ts'
import { inEnvironment, useAction, useApi } from './use-api.ts'

type Connector = Schemas['Connectors']['connectors'][number]

export function DataView() {
  return (
    <div class="page">
      <Connectors />
      <Collections />
      <Snapshots />
      <WholeState />
    </div>
  )
}

function Connectors() {
  const { value, error, reload } = useApi<Schemas['Connectors']>('/connectors')
  return (
    <Section level={2} title="Connectors" note={value ? plural(value.connectors.length, 'connector') : undefined}>
      <Problem error={error} />
      {value?.connectors.length === 0 && (
        <Empty title="No connector.">
          <p>A seed brings them: --seed, or POST /_mock/seed.</p>
        </Empty>
      )}
      <ul class="connectors">
        {value?.connectors.map((connector) => (
          <ConnectorItem key={connector.connector} connector={connector} changed={reload} />
        ))}
      </ul>
    </Section>
  )
}

function ConnectorItem({ connector, changed }: { readonly connector: Connector; readonly changed: () => void }) {
  const { connector: name, display_name, authorization_type, enabled, tools, responders, base_url } = connector
  const { busy, error, run } = useAction()
  const isOpen = place.value.parameters['connector'] === name
  const switchTo = (event: 'enable' | 'disable'): void =>
    run(async () => {
      await call('POST', `/connections/${encodeURIComponent(name)}/${event}`, { query: inEnvironment() })
      changed()
    })
  return (
    <li>
      <details
        open={isOpen}
        onToggle={(event) => {
          if (event.currentTarget.open !== isOpen) adjust({ connector: event.currentTarget.open ? name : '' })
        }}
      >
        <summary>
          <strong>{display_name}</strong> <span class="quiet mono">{name}</span> <Tag>{authorization_type}</Tag>{' '}
          {!enabled && <Tag tone="warning">disabled</Tag>}
          <span class="space" />
          <span class="quiet wide-only">
            {plural(tools.length, 'tool')}, {plural(responders.length, 'responder')}
          </span>
        </summary>
        <div class="section-body">
          {connector.description !== '' && <p>{connector.description}</p>}
          {base_url !== null && (
            <p>
              Its calls go to <code>{base_url}</code>.
            </p>
          )}
          <p>
            Tools:{' '}
            {tools.map((tool) => (
              <code key={tool}>{tool} </code>
            ))}
            {tools.length === 0 && <span class="quiet">none</span>}
          </p>
          {responders.length > 0 && (
            <div class="scroll-x" tabIndex={0} role="region" aria-label={`Responders of ${display_name}`}>
              <table class="responders">
                <thead>
                  <tr>
                    <th scope="col">Request</th>
                    <th scope="col">Answers</th>
                    <th scope="col" class="right">
                      Hits
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {responders.map(({ method, path, answers, hits }, index) => (
                    <tr key={index}>
                      <th scope="row" class="mono">
                        {method ?? 'any'} {path ?? 'any path'}
                      </th>
                      <td>
                        {answers.map((status, at) => (
                          <Status key={at} status={status} />
                        ))}
                      </td>
                      <td class="number right">{hits}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
          <div class="buttons">
            <button
              type="button"
              class="small"
              disabled={busy}
              onClick={() => switchTo(enabled ? 'disable' : 'enable')}
            >
              {enabled ? 'Disable its connection' : 'Enable its connection'}
            </button>
            <a class="button small" href={linkTo('links', '', { connector: name })}>
              Create a link
            </a>
          </div>
          <Problem error={error} />
        </div>
      </details>
    </li>
  )
}

/** The items that the responders of connectors create, list, change and delete. */
function Collections() {
  const { value, error } = useApi<{ collections: readonly Schemas['Collection'][] }>('/collections')
  const { collection: chosen = '', account = '' } = place.value.parameters
  const collections = value?.collections ?? []
  const current = collections.find((each) => nameOf(each) === chosen) ?? collections[0]
  const accounts = useApi<Schemas['Accounts']>(current?.per === 'account' ? '/accounts' : null, {
    query: current?.connector,
  })
  const owners = (accounts.value?.accounts ?? []).filter(({ connector }) => connector === current?.connector)
  const owner = owners.find((each) => each.id === account) ?? owners[0]
  if (value && collections.length === 0) return null
  return (
    <Section level={2} title="Collections" note={value ? plural(collections.length, 'collection') : undefined}>
      <Problem error={error} />
      {current && (
        <div class="buttons">
          <Choice
            label="Collection"
            value={nameOf(current)}
            options={collections.map((each) => [nameOf(each), nameOf(each)])}
            onChange={(collection) => adjust({ collection, account: '' })}
          />
          {current.per === 'account' && owner && (
            <Choice
              label="Account"
              value={owner.id}
              options={owners.map((each) => [each.id, each.identifier])}
              onChange={(next) => adjust({ account: next })}
            />
          )}
        </div>
      )}
      {current && current.per === 'account' && accounts.value && !owner ? (
        <p class="quiet">Each account has items of its own, and this connector has no account yet.</p>
      ) : (
        current &&
        (current.per === 'environment' || owner) && (
          <Items
            key={`${nameOf(current)} ${owner?.id ?? ''}`}
            collection={current}
            account={current.per === 'account' ? owner?.id : undefined}
          />
        )
      )}
    </Section>
  )
}

function nameOf({ connector, collection }: Schemas['Collection']): string {
  return `${connector}/${collection}`
}

/** More columns than this do not fit; the rest of an item is in the last one. */
const MOST_COLUMNS = 6
const MOST_ITEMS = 200

function Items({
  collection,
  account,
}: {
  readonly collection: Schemas['Collection']
  readonly account: string | undefined
}) {
  const path = `/collections/${encodeURIComponent(collection.connector)}/${encodeURIComponent(collection.collection)}`
  const { value, error } = useApi<Schemas['CollectionItems']>(path, { account })
  if (error) return <Problem error={error} />
  if (!value) return null
  if (value.items.length === 0) return <p class="quiet">It is empty. A tool that creates something fills it.</p>
  const keys = [...new Set([collection.key, ...value.items.flatMap((item) => Object.keys(item))])].slice(
    0,
    MOST_COLUMNS,
  )
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={nameOf(collection)}>
      <table>
        <caption>
          {plural(value.items.length, 'item')}
          {value.items.length > MOST_ITEMS && `, the newest ${MOST_ITEMS} of them`}
        </caption>
        <thead>
          <tr>
            {keys.map((key) => (
              <th key={key} scope="col">
                {key}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {value.items
            .slice(-MOST_ITEMS)
            .reverse()
            .map((item) => (
              <tr key={String(item[collection.key])}>
                {keys.map((key) => (
                  <td key={key} class={key === collection.key ? 'mono' : ''}>
                    {cellOf(item[key])}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), 160)
}

function Snapshots() {
  const id = useId()
  const { value, error, reload } = useApi<Schemas['Snapshots']>('/snapshots')
  const [name, setName] = useState('')
  const [asked, setAsked] = useState('')
  const action = useAction()
  const chosen = place.value.parameters['snapshot'] ?? ''
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
        <p class="quiet">No snapshot yet. A snapshot saves accounts, settings and the clock, to be restored.</p>
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
              onClick={() => adjust({ snapshot: chosen === each ? '' : each })}
            >
              What changed since
            </button>
            <button type="button" class="small" disabled={action.busy} onClick={() => setAsked(each)}>
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
      {asked !== '' && (
        <Confirm
          title={`Restore ${asked}?`}
          text="Accounts, settings and the clock become what they were. What came since is lost."
          label="Restore"
          close={() => setAsked('')}
          act={() => change('POST', `/snapshots/${encodeURIComponent(asked)}/restore`)}
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
    return <p class="quiet">Nothing has changed since {name}.</p>
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

/** Reset, download and upload. */
function WholeState() {
  const file = useRef<HTMLInputElement>(null)
  const [asks, setAsks] = useState(false)
  const [done, setDone] = useState('')
  const { busy, error, run } = useAction()
  const download = (): void =>
    run(async () => {
      const response = await open('GET', '/state', { query: inEnvironment() })
      saveAs(await response.blob(), `toolmock-state-${environment.value}.json`)
    })
  const upload = (chosen: File): void =>
    run(async () => {
      await call('PUT', '/state', { query: inEnvironment(), document: await chosen.text() })
      setDone(`The state is that of ${chosen.name} now.`)
    })
  const reset = (): void =>
    run(async () => {
      await call('POST', '/reset', { query: inEnvironment() })
      setDone('The environment is what its seed makes it.')
    })
  return (
    <Section level={2} title="Whole state">
      <p class="quiet">
        The download has every row, secrets included. An upload replaces them all; a bad file changes nothing.
      </p>
      <div class="buttons">
        <button type="button" disabled={busy} onClick={download}>
          Download
        </button>
        <button type="button" disabled={busy} onClick={() => file.current?.click()}>
          Upload
        </button>
        <button type="button" class="danger" disabled={busy} onClick={() => setAsks(true)}>
          Reset
        </button>
        <input
          ref={file}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-label="State file"
          accept=".json,.yaml,.yml"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? []
            if (chosen) upload(chosen)
            currentTarget.value = ''
          }}
        />
      </div>
      {done !== '' && !error && <p role="status">{done}</p>}
      <Problem error={error} />
      {asks && (
        <Confirm
          title={`Reset ${environment.value}?`}
          text="Accounts, clock, scenarios, links and the request journal go back to the seed. Clients, bearer tokens and snapshots stay."
          label="Reset"
          close={() => setAsks(false)}
          act={reset}
        />
      )}
    </Section>
  )
}

/** Asks before something is lost. */
function Confirm({
  title,
  text,
  label,
  act,
  close,
}: {
  readonly title: string
  readonly text: string
  readonly label: string
  readonly act: () => void
  readonly close: () => void
}) {
  return (
    <Dialog title={title} onClose={close}>
      <p>{text}</p>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          onClick={() => {
            act()
            close()
          }}
        >
          {label}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}
