import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { plural, shorten } from '../../model/domain/text.ts'
import { notice } from './actions.ts'
import { call, change, download, pathOf, type Schemas, useApi } from './api.ts'
import { commandOf, Empty, Facts, Json, RowTable, Section, ShellCommand, Status, Tag } from './content.tsx'
import { ChoiceField, chooseFile, Field, Form, LinkButton, ProblemNote, SmallButton } from './controls.tsx'
import { momentOf } from './format.ts'
import { environment, go, linkTo, NEW, route } from './hash-route.ts'
import { type ListColumn, ListView } from './list-view.tsx'

type Connector = Schemas['Connectors']['connectors'][number]

export function ConnectorsView() {
  const { value, error } = useApi<Schemas['Connectors']>('/connectors')
  return (
    <ListView
      view="connectors"
      noun="connector"
      rows={value?.connectors}
      idOf={({ connector }) => connector}
      textOf={({ connector, display_name: name, tools }) => [connector, name, ...tools].join(' ')}
      error={error}
      columns={[
        {
          title: 'Connector',
          value: (connector) => connector.display_name,
          cell: ({ connector }) => <p class="quiet">{connector}</p>,
        },
        { title: 'Type', width: 144, class: 'mono roomy', value: ({ authorization_type: type }) => type },
        { title: 'Tools', width: 72, class: 'number', value: ({ tools }) => tools.length },
        { title: 'Responders', width: 112, class: 'number roomy', value: ({ responders }) => responders.length },
        {
          title: 'Connection',
          width: 120,
          cell: ({ enabled }) => (enabled ? <Tag>enabled</Tag> : <Tag tone="warning">disabled</Tag>),
        },
      ]}
      empty={
        <Empty title="No connector." command="npx toolmock init">
          <p>Add connectors with a seed: --seed, or POST /_mock/seed. A command writes one to begin with:</p>
        </Empty>
      }
      open={(connector) => <ConnectorDetail connector={connector} />}
    >
      <Replicas />
    </ListView>
  )
}

function ConnectorDetail({ connector }: Readonly<{ connector: Connector }>) {
  const { connector: name, display_name, enabled, tools, responders, base_url } = connector
  return (
    <>
      {connector.description !== '' && <p>{connector.description}</p>}
      <div class="buttons">
        <SmallButton
          label={enabled ? 'Disable its connection' : 'Enable its connection'}
          act={() => change('POST', pathOf('connections', name, enabled ? 'disable' : 'enable'))}
        />
        <LinkButton label="Create a link" href={linkTo('links', NEW, { connector: name })} />
        <LinkButton label="Its accounts" href={linkTo('accounts', '', { connector: name })} />
      </div>
      <Facts
        facts={[
          ['Base URL', base_url && <code>{base_url}</code>],
          ['Tools', tools.length === 0 ? 'none' : tools.map((tool) => <code key={tool}>{tool} </code>)],
        ]}
      />
      {responders.length > 0 && (
        <RowTable
          label={`Responders of ${display_name}`}
          heads={[['Request', 'mono'], 'Answers', ['Hits', 'number']]}
          rows={responders.map(({ method, path, answers, hits }) => [
            `${method ?? 'any'} ${path ?? 'any path'}`,
            answers.map((status, at) => <Status key={at} status={status} />),
            hits,
          ])}
        />
      )}
      {connector.mcp_server_url !== '' && (
        <>
          <p>For a client of MCP, with an access token of POST /oauth/token and the identifier of an account:</p>
          <ShellCommand text={mcpServers(connector)} />
        </>
      )}
    </>
  )
}

/** The configuration of a client; its user fills in the token, and another account. */
function mcpServers({ connector, mcp_server_url: url, people }: Connector): string {
  const headers = { Authorization: 'Bearer ACCESS_TOKEN', identifier: people[0] ?? 'USER' }
  return JSON.stringify({ mcpServers: { [connector]: { type: 'http', url, headers } } }, undefined, 2)
}

type Item = Schemas['CollectionItems']['items'][number]

/** The most fields of the items that fit as columns; an open item has all. */
const MAX_COLUMNS = 5
const MAX_ITEMS = 200

export function CollectionsView() {
  const { value, error } = useApi<{ collections: readonly Schemas['Collection'][] }>('/collections')
  const { collection: chosen = '', account = '' } = route.value.parameters
  const collections = value?.collections ?? []
  const current = collections.find((each) => collectionTitle(each) === chosen) ?? collections[0]
  const isPerAccount = current?.per === 'account'
  const owners = useApi<Schemas['Accounts']>(isPerAccount ? '/accounts' : null, { connector: current?.connector })
  const owner = owners.value?.accounts.find((each) => each.id === account) ?? owners.value?.accounts[0]
  const path = current && (owner ?? !isPerAccount) ? pathOf('collections', current.connector, current.collection) : null
  const items = useApi<Schemas['CollectionItems']>(path, { account: owner?.id })
  const all = items.value?.items ?? []
  const key = current?.key ?? 'id'
  const fields = [...new Set(all.flatMap((item) => Object.keys(item)))].filter((field) => field !== key)
  return (
    <ListView
      view="collections"
      noun="item"
      label={current && collectionTitle(current)}
      rows={value && (path === null || items.value) && all.slice(-MAX_ITEMS).reverse()}
      idOf={(item) => cellOf(item[key])}
      textOf={(item) => JSON.stringify(item)}
      note={`${plural(all.length, 'item')}${all.length > MAX_ITEMS ? `, the newest ${MAX_ITEMS} of them` : ''}`}
      error={error ?? items.error}
      columns={[
        { title: key, value: (item) => cellOf(item[key]) },
        ...fields.slice(0, MAX_COLUMNS).map((field, at): ListColumn<Item> => {
          return { title: field, class: at > 1 ? 'roomy' : '', value: (item) => cellOf(item[field]) }
        }),
      ]}
      controls={
        current && (
          <>
            <Field
              label="Collection"
              value={collectionTitle(current)}
              options={collections.map((each) => [collectionTitle(each), collectionTitle(each)])}
              onInput={(collection) => go('collections', '', { collection })}
            />
            {owner && (
              <ChoiceField
                name="account"
                label="Account"
                value={owner.id}
                options={(owners.value?.accounts ?? []).map((each) => [each.id, each.identifier])}
              />
            )}
          </>
        )
      }
      empty={
        current === undefined ? (
          <Empty title="No connector has a collection." />
        ) : isPerAccount && !owner ? (
          <Empty title="Each account has its own items, and this connector has no account yet." />
        ) : (
          <Empty title="No items yet. Calls create them." />
        )
      }
      open={(item) => <Json value={item} />}
    />
  )
}

function collectionTitle({ connector, collection }: Schemas['Collection']): string {
  return `${connector}/${collection}`
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), 160)
}

export function SnapshotsView() {
  const { value, error } = useApi<Schemas['Snapshots']>('/snapshots')
  const [name, setName] = useState('')
  const send = (method: string, ...path: readonly string[]) => change(method, pathOf('snapshots', ...path))
  const restore = (snapshot: string): void => {
    notice.value = {
      title: `Restore ${snapshot}?`,
      text: 'Accounts, settings and the clock go back to the snapshot. Later changes are lost.',
      actions: [['Restore', () => send('POST', snapshot, 'restore')]],
    }
  }
  return (
    <ListView
      view="snapshots"
      noun="snapshot"
      rows={value?.snapshots}
      idOf={(snapshot) => snapshot.name}
      textOf={(snapshot) => snapshot.name}
      error={error}
      columns={[
        { title: 'Snapshot', value: (snapshot) => snapshot.name },
        { title: 'Taken', width: 176, class: 'mono', value: ({ taken_at: at }) => momentOf(at) },
        {
          title: 'Actions',
          width: 168,
          cell: ({ name: each }) => (
            <div class="buttons">
              <SmallButton label="Restore" onClick={() => restore(each)} />
              <SmallButton label="Delete" aria-label={`Delete the snapshot ${each}`} act={() => send('DELETE', each)} />
            </div>
          ),
        },
      ]}
      controls={
        <Form
          inline
          label="Save a snapshot"
          disabled={name === ''}
          submit={async () => {
            await send('PUT', name)
            setName('')
          }}
        >
          <Field label="Name" wrap="choice" value={name} placeholder="Name of a new one" onInput={setName} />
        </Form>
      }
      empty={
        <Empty title="No snapshot yet." command={commandOf('snapshot save before')}>
          <p>A snapshot saves accounts, settings and the clock. A row then says what has changed since.</p>
        </Empty>
      }
      open={(snapshot) => <Diff name={snapshot.name} />}
    >
      <WholeState />
    </ListView>
  )
}

function Diff({ name }: Readonly<{ name: string }>) {
  const { value, error } = useApi<Schemas['StateDiff']>('/state/diff', { snapshot: name })
  if (error) return <ProblemNote error={error} />
  if (!value) return null
  const { added, removed, changed, settings } = value
  if (added.length + removed.length + changed.length + settings.length === 0) {
    return <p class="quiet">No changes since {name}.</p>
  }
  const change = (row: string, { field, before, after }: Schemas['FieldChange']): ComponentChildren[] => {
    return [<Tag tone="info">changed</Tag>, row, field, valueText(before), valueText(after)]
  }
  return (
    <RowTable
      caption={`What changed since ${name}`}
      class="changes"
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

function valueText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}

/** The servers on one database; nothing where the state is in a file. */
function Replicas() {
  const { value, error } = useApi<Schemas['Replicas']>('/replicas', { environment: undefined })
  if (value?.replicas.length === 0) return null
  return (
    <Section level={2} title="Replicas" note={value?.active ? `epoch ${value.active.epoch}` : undefined}>
      <ProblemNote error={error} />
      {value && (
        <RowTable
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
  const upload = async (file: File): Promise<void> => {
    await call('PUT', '/state', { body: await file.text() })
    notice.value = { text: `The state of ${file.name} is loaded.` }
  }
  const reset = async (): Promise<void> => {
    await call('POST', '/reset')
    notice.value = { text: 'The environment is reset to its seed.' }
  }
  const askToReset = (): void => {
    notice.value = {
      title: `Reset ${environment.value}?`,
      text: 'Accounts, clock, scenarios, links and the request journal go back to the seed. Clients, bearer tokens and snapshots stay.',
      actions: [['Reset', reset]],
    }
  }
  return (
    <footer class="column actions">
      <strong>Whole state</strong>
      <p class="quiet">
        The download has every row, secrets included. An upload replaces all rows; an invalid file is refused and
        changes no row.
      </p>
      <div class="buttons">
        <SmallButton label="Download" act={() => download('/state', `toolmock-state-${environment.value}.json`)} />
        <SmallButton label="Upload" onClick={() => chooseFile('.json,.yaml,.yml', upload)} />
        <SmallButton label="Reset" class="danger" onClick={askToReset} />
      </div>
    </footer>
  )
}
