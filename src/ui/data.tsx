import { useRef, useState } from 'preact/hooks'
import { plural } from '../domain/text.ts'
import { call, type Schemas } from './api.ts'
import { Collections } from './collections.tsx'
import { download } from './download.ts'
import { momentOf } from './format.ts'
import { change } from './live.ts'
import { Button, Command, Confirmed, Empty, Facts, Problem, Section, Small, Status, Table, Tag } from './parts.tsx'
import { setParameters, environment, linkTo, route } from './hash-route.ts'
import { Snapshots } from './snapshots.tsx'
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
        <Small
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
      await call('PUT', '/state', { document: await chosen.text() })
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
