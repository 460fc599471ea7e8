import { useState } from 'preact/hooks'
import { EVENT_TYPES } from '../../model/domain/webhook.ts'
import { change, pathOf, type Request, type Schemas, serverUrl, useApi } from './api.ts'
import { Empty, Status, Tag } from './content.tsx'
import { Field, Form, SmallButton } from './controls.tsx'
import { toneOfEntry } from './entry.ts'
import { distanceOf, momentOf } from './format.ts'
import { go, inEnvironment, linkTo } from './hash-route.ts'
import { ListView } from './list-view.tsx'
import { clockNow } from './live.ts'

const MAX_ATTEMPTS = 200

/** What was sent to webhooks, an attempt a row, with what is sent again or by hand. */
export function WebhooksView() {
  const { value: webhooks, error } = useApi<Schemas['Webhooks']>('/webhooks')
  const attempts = useApi<{ requests: readonly Request[] }>('/requests', { kind: 'webhook', limit: MAX_ATTEMPTS })
  const url = `${serverUrl()}/_mock/webhooks/app?${new URLSearchParams(inEnvironment()).toString()}`
  return (
    <ListView
      view="webhooks"
      noun="attempt"
      rows={attempts.value?.requests.toReversed()}
      idOf={({ id }) => id}
      textOf={({ webhook, account_state: account }) =>
        [webhook?.type, webhook?.name, webhook?.event, account?.identifier].join(' ')
      }
      hrefOf={({ id }) => linkTo('timeline', id)}
      error={error ?? attempts.error}
      columns={[
        {
          title: 'Event',
          value: ({ webhook }) => webhook?.type ?? '',
          cell: ({ account_state: account }) => (
            <p class="quiet">{account ? `${account.identifier} at ${account.connector}` : 'no account'}</p>
          ),
        },
        { title: 'Webhook', width: 112, cell: ({ webhook }) => webhook?.name },
        {
          title: 'Status',
          width: 72,
          value: ({ status }) => status,
          cell: (attempt) => <Status status={attempt.status} tone={toneOfEntry(attempt)} />,
        },
        { title: 'Attempt', width: 72, class: 'number roomy', cell: ({ webhook }) => webhook?.attempt },
        { title: 'At', width: 168, class: 'mono roomy', value: ({ at }) => momentOf(at) },
        {
          title: 'Actions',
          width: 112,
          cell: ({ webhook }) =>
            webhook && (
              <SmallButton
                label="Send again"
                act={() => change('POST', pathOf('webhook-events', webhook.event, 'resend'))}
              />
            ),
        },
      ]}
      newLabel="Send an event"
      newForm={<NewEvent />}
      empty={
        webhooks?.webhooks.length === 0 ? (
          <Empty
            title="No webhook yet."
            command={`curl -s -X PUT '${url}' -H 'Content-Type: application/json' -d '{"url":"http://127.0.0.1:3000/webhooks","secret":"whsec_dG9vbG1vY2std2ViaG9vay1zZWNyZXQ="}'`}
          >
            <p>The events of accounts are sent to an address of yours:</p>
          </Empty>
        ) : (
          <Empty title="Nothing was sent yet." />
        )
      }
    >
      <Targets webhooks={webhooks?.webhooks ?? []} />
    </ListView>
  )
}

/** The addresses, with what waits for them. */
function Targets({ webhooks }: Readonly<{ webhooks: Schemas['Webhooks']['webhooks'] }>) {
  if (webhooks.length === 0) return null
  return (
    <footer class="column actions">
      {webhooks.map(({ name, url, waiting, next_attempts: [next] }) => (
        <p key={name} class="row wrap">
          <strong>{name}</strong> <code>{url}</code>
          {waiting > 0 && <Tag tone="warning">{waiting} not acknowledged</Tag>}
          {next && clockNow.value !== undefined && (
            <small>
              attempt {next.attempt} of {next.type} {distanceOf(Date.parse(next.at), clockNow.value)}
            </small>
          )}
        </p>
      ))}
    </footer>
  )
}

function NewEvent() {
  const [type, setType] = useState<string>(EVENT_TYPES[0])
  const [account, setAccount] = useState('')
  const { value } = useApi<Schemas['Accounts']>('/accounts', { order: 'newest', limit: 100 })
  const send = async (): Promise<void> => {
    await change('POST', '/webhook-events', { body: { type, ...(account !== '' && { account }) } })
    go('webhooks')
  }
  return (
    <Form aria-label="Send an event" label="Send" submit={send}>
      <Field
        label="Event"
        wrap="field"
        value={type}
        options={EVENT_TYPES.map((each) => [each, each])}
        onInput={setType}
      />
      <Field
        label="Account"
        wrap="field"
        value={account}
        options={[
          ['', 'the newest one'],
          ...(value?.accounts ?? []).map(
            ({ id, identifier, connector }) => [id, `${identifier} at ${connector}`] as const,
          ),
        ]}
        onInput={setAccount}
      />
      <p class="quiet">It is sent as it would be if it came about now; nothing of the account changes.</p>
    </Form>
  )
}
