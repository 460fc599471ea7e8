import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { plural, shorten } from '../../model/domain/text.ts'
import { call, download, type Schemas } from './api.ts'
import { momentOf } from './format.ts'
import { change } from './live.ts'
import { Facts, Status, Table, Tag } from './content.tsx'
import { Button, Confirmed, Field, Form, SmallButton } from './controls.tsx'
import { Command, Empty, Problem, Section } from './layout.tsx'
import { setParameters, environment, linkTo, route } from './hash-route.ts'
import { pathOf, useAction, useApi } from './use-api.ts'

type Connector = Schemas['Connectors']['connectors'][number]

export function DataView() {
  return (
    <div class="column page">
      <Connectors />
      <Collections />
      <Snapshots />
      <WholeState />
      <Replicas />
    </div>
  )
}

function Connectors() {
  const { value, error } = useApi<Schemas['Connectors']>('/connectors')
  return (
    <Section level={2} title="Connectors" note={value ? plural(value.connectors.length, 'connector') : undefined}>
      <Problem error={error} />
      {value?.connectors.length === 0 && (
        <Empty title="No connector." command="npx toolmock init">
          <p>Add connectors with a seed: --seed, or POST /_mock/seed. A command writes one to begin with:</p>
        </Empty>
      )}
      <div class="connectors">
        {value?.connectors.map((connector) => (
          <ConnectorItem key={connector.connector} connector={connector} />
        ))}
      </div>
    </Section>
  )
}

function ConnectorItem({ connector }: Readonly<{ connector: Connector }>) {
  const { connector: name, display_name, authorization_type, enabled, tools, responders, base_url } = connector
  const { busy, error, run } = useAction()
  const isOpen = route.value.parameters['connector'] === name
  return (
    <Section
      title={display_name}
      open={isOpen}
      onToggle={(opened) => {
        if (opened !== isOpen) setParameters({ connector: opened ? name : '' })
      }}
      note={
        <>
          {!enabled && <Tag tone="warning">disabled</Tag>} <code>{name}</code>{' '}
          <span class="wide-only">
            {authorization_type} · {plural(tools.length, 'tool')}, {plural(responders.length, 'responder')}
          </span>
        </>
      }
    >
      {connector.description !== '' && <p>{connector.description}</p>}
      {connector.mcp_server_url !== '' && (
        <>
          <p>For a client of MCP, with an access token of POST /oauth/token and the identifier of an account:</p>
          <Command text={mcpServers(connector)} />
        </>
      )}
      <Facts
        facts={[
          ['Base URL', base_url && <code>{base_url}</code>],
          ['Tools', tools.length === 0 ? 'none' : tools.map((tool) => <code key={tool}>{tool} </code>)],
        ]}
      />
      {responders.length > 0 && (
        <Table
          label={`Responders of ${display_name}`}
          heads={[['Request', 'mono'], 'Answers', ['Hits', 'number']]}
          rows={responders.map(({ method, path, answers, hits }) => [
            `${method ?? 'any'} ${path ?? 'any path'}`,
            answers.map((status, at) => <Status key={at} status={status} />),
            hits,
          ])}
        />
      )}
      <div class="buttons">
        <SmallButton
          label={enabled ? 'Disable its connection' : 'Enable its connection'}
          disabled={busy}
          onClick={() => run(() => change('POST', pathOf('connections', name, enabled ? 'disable' : 'enable')))}
        />
        <a class="button small" href={linkTo('links', '', { connector: name })}>
          Create a link
        </a>
      </div>
      <Problem error={error} />
    </Section>
  )
}

/** The configuration of a client; its user fills in the token, and another account. */
function mcpServers({ connector, mcp_server_url: url, people }: Connector): string {
  const headers = { Authorization: 'Bearer ACCESS_TOKEN', identifier: people[0] ?? 'USER' }
  return JSON.stringify({ mcpServers: { [connector]: { type: 'http', url, headers } } }, undefined, 2)
}

function Collections() {
  const { value, error } = useApi<{ collections: readonly Schemas['Collection'][] }>('/collections')
  const { collection: chosen = '', account = '' } = route.value.parameters
  const collections = value?.collections ?? []
  const current = collections.find((each) => nameOf(each) === chosen) ?? collections[0]
  const isPerAccount = current?.per === 'account'
  const accounts = useApi<Schemas['Accounts']>(isPerAccount ? '/accounts' : null, { query: current?.connector })
  const owners = (accounts.value?.accounts ?? []).filter(({ connector }) => connector === current?.connector)
  const owner = owners.find((each) => each.id === account) ?? owners[0]
  if (value && collections.length === 0) return null
  return (
    <Section level={2} title="Collections" note={value ? plural(collections.length, 'collection') : undefined}>
      <Problem error={error} />
      {current && (
        <div class="buttons">
          <Field
            label="Collection"
            value={nameOf(current)}
            options={collections.map((each) => [nameOf(each), nameOf(each)])}
            onInput={(collection) => setParameters({ collection, account: '' })}
          />
          {owner && (
            <Field
              label="Account"
              value={owner.id}
              options={owners.map((each) => [each.id, each.identifier])}
              onInput={(next) => setParameters({ account: next })}
            />
          )}
        </div>
      )}
      {isPerAccount && accounts.value && !owner && (
        <p class="quiet">Each account has its own items, and this connector has no account yet.</p>
      )}
      {current && (owner || !isPerAccount) && (
        <CollectionTable key={`${nameOf(current)} ${owner?.id ?? ''}`} collection={current} account={owner?.id} />
      )}
    </Section>
  )
}

function nameOf({ connector, collection }: Schemas['Collection']): string {
  return `${connector}/${collection}`
}

/** The most fields of the items that fit as columns; the others are not shown. */
const MAX_COLUMNS = 6
const MAX_ITEMS = 200

function CollectionTable({
  collection,
  account,
}: Readonly<{ collection: Schemas['Collection']; account: string | undefined }>) {
  const path = pathOf('collections', collection.connector, collection.collection)
  const { value, error } = useApi<Schemas['CollectionItems']>(path, { account })
  if (error) return <Problem error={error} />
  if (!value) return null
  if (value.items.length === 0) return <p class="quiet">No items yet. Calls create them.</p>
  const keys = [...new Set([collection.key, ...value.items.flatMap((item) => Object.keys(item))])].slice(0, MAX_COLUMNS)
  return (
    <Table
      label={nameOf(collection)}
      caption={`${plural(value.items.length, 'item')}${value.items.length > MAX_ITEMS ? `, the newest ${MAX_ITEMS} of them` : ''}`}
      heads={keys.map((key) => [key, key === collection.key ? 'mono' : ''])}
      by={-1}
      rows={value.items
        .slice(-MAX_ITEMS)
        .reverse()
        .map((item) => keys.map((key) => cellOf(item[key])))}
    />
  )
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), 160)
}

function Snapshots() {
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
        <Field label="Name" wrap="choice" value={name} placeholder="before" onInput={setName} />
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
            <SmallButton
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
            <SmallButton
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

/** The servers on one database; nothing where the state is in a file. */
function Replicas() {
  const { value, error } = useApi<Schemas['Replicas']>('/replicas', { environment: undefined })
  if (value?.replicas.length === 0) return null
  return (
    <Section level={2} title="Replicas" note={value?.active ? `epoch ${value.active.epoch}` : undefined}>
      <Problem error={error} />
      {value && (
        <Table
          label="Replicas"
          heads={[['Address', 'mono'], 'Role', 'Version', 'Seen', 'Differs in']}
          rows={value.replicas.map(({ id, url, version, seen_at, differs }) => [
            url,
            id === value.active?.id ? <Tag>active</Tag> : 'stands by',
            version,
            momentOf(seen_at),
            differs.join(', '),
          ])}
        />
      )}
    </Section>
  )
}

function WholeState() {
  const file = useRef<HTMLInputElement>(null)
  const [done, setDone] = useState('')
  const { busy, error, run } = useAction()
  const upload = (chosen: File): void =>
    run(async () => {
      await call('PUT', '/state', { body: await chosen.text() })
      setDone(`The state of ${chosen.name} is loaded.`)
    })
  const reset = (): void =>
    run(async () => {
      await call('POST', '/reset')
      setDone('The environment is reset to its seed.')
    })
  return (
    <Section level={2} title="Whole state">
      <p class="quiet">
        The download has every row, secrets included. An upload replaces all rows; an invalid file is refused and
        changes no row.
      </p>
      <div class="buttons">
        <Button
          label="Download"
          disabled={busy}
          onClick={() => run(() => download('/state', `toolmock-state-${environment.value}.json`))}
        />
        <Button label="Upload" disabled={busy} onClick={() => file.current?.click()} />
        <Confirmed
          label="Reset"
          class="danger"
          disabled={busy}
          title={`Reset ${environment.value}?`}
          text="Accounts, clock, scenarios, links and the request journal go back to the seed. Clients, bearer tokens and snapshots stay."
          act={reset}
        />
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
    </Section>
  )
}
