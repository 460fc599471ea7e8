import { useState } from 'preact/hooks'
import { shellQuote } from '../../model/domain/text.ts'
import { notice } from './actions.ts'
import { change, pathOf, type Schemas, serverUrl, useApi } from './api.ts'
import { Empty, Tag } from './content.tsx'
import { CopyButton, Field, Form, LinkButton, SmallButton } from './controls.tsx'
import { distanceOf } from './format.ts'
import { go, inEnvironment, route, setParameters } from './hash-route.ts'
import { ListView } from './list-view.tsx'
import { clockNow } from './live.ts'

type Link = Schemas['Link']
type Connector = Schemas['Connectors']['connectors'][number]

export function LinksView() {
  const { value, error } = useApi<Schemas['Links']>('/links')
  const connectors = useApi<Schemas['Connectors']>('/connectors').value?.connectors ?? []
  const now = clockNow.value ?? 0
  const peopleOf = (link: Link): readonly string[] =>
    connectors.find(({ connector }) => connector === link.connector)?.people ?? []
  return (
    <ListView
      view="links"
      noun="open link"
      rows={value?.links}
      idOf={(link) => link.id}
      textOf={({ identifier, connector }) => `${identifier} ${connector}`}
      hrefOf={() => undefined}
      error={error}
      columns={[
        {
          title: 'Account',
          value: ({ identifier }) => identifier,
          cell: ({ connector }) => <p class="quiet">at {connector}</p>,
        },
        {
          title: 'Expires',
          width: 136,
          value: ({ expiry }) => expiry,
          cell: ({ expiry }) => <Tag>{distanceOf(Date.parse(expiry), now)}</Tag>,
        },
        {
          title: 'Sign in as, and decide',
          width: 500,
          cell: (link) => <Decide link={link} people={peopleOf(link)} />,
        },
      ]}
      newLabel="New link"
      newForm={<NewLink connectors={connectors} />}
      empty={
        <Empty title="No link is open." command={linkCommand(connectors[0]?.connector ?? 'mail')}>
          <p>A client asks for one to connect an account. Create one with New link to try it, or from a shell:</p>
        </Empty>
      }
    />
  )
}

/** Creates a link from a shell. */
export function linkCommand(connector: string): string {
  const url = `${serverUrl()}/_mock/links?${new URLSearchParams(inEnvironment()).toString()}`
  const body = shellQuote(JSON.stringify({ connector, identifier: 'ada@example.com' }))
  return `curl -s ${shellQuote(url)} -H 'Content-Type: application/json' -d ${body}`
}

function NewLink({ connectors }: Readonly<{ connectors: readonly Connector[] }>) {
  const { connector = '', identifier = '' } = route.value.parameters
  const [verifyUrl, setVerifyUrl] = useState('')
  const chosen = connector === '' ? (connectors[0]?.connector ?? '') : connector
  const people = connectors.find((each) => each.connector === chosen)?.people ?? []
  const create = async (): Promise<void> => {
    const body = { connector: chosen, identifier, ...(verifyUrl === '' ? {} : { user_verify_url: verifyUrl }) }
    await change('POST', '/links', { body })
    go('links')
  }
  return (
    <Form aria-label="New link" label="Create link" disabled={identifier === '' || chosen === ''} submit={create}>
      <Field
        label="Connector"
        wrap="field"
        value={chosen}
        options={connectors.map(({ connector: name, display_name: displayName }) => {
          return [name, displayName === name ? name : `${displayName} (${name})`]
        })}
        onInput={(next) => setParameters({ connector: next })}
      />
      <Field
        label="Identifier of the account"
        autofocus
        value={identifier}
        among={people}
        placeholder={people[0] ?? 'ada@example.com'}
        onInput={(text) => setParameters({ identifier: text })}
      />
      <Field
        label="Verify URL"
        note="optional"
        type="url"
        value={verifyUrl}
        placeholder="http://localhost:3000/verified"
        onInput={setVerifyUrl}
      />
    </Form>
  )
}

function Decide({ link, people }: Readonly<{ link: Link; people: readonly string[] }>) {
  const [as, setAs] = useState(link.signs_in_as ?? '')
  const complete = async (decision: 'approve' | 'deny'): Promise<void> => {
    const { id, identifier, connector } = link
    const person = decision === 'approve' ? as : ''
    const body = { decision, ...(person !== '' && { as: person }) }
    const { redirect_url: redirect } = await change<Schemas['Redirect']>('POST', pathOf('links', id, 'complete'), {
      body,
    })
    const [verb, who] = [decision === 'approve' ? 'Approved' : 'Denied', person && `, signed in as ${person}`]
    notice.value = {
      text: `${verb}: ${identifier} at ${connector}${who}. The redirect goes to ${redirect}.`,
      actions: [['Show the account', () => go('accounts', '', { q: identifier })]],
    }
  }
  return (
    <div class="row wrap">
      {link.signs_in_as !== null && (
        <Field label="Sign in as" wrap="choice" value={as} among={people} onInput={setAs} />
      )}
      <span class="space" />
      <SmallButton
        label="Approve"
        class="primary"
        disabled={link.signs_in_as !== null && as === ''}
        act={() => complete('approve')}
      />
      <SmallButton label="Deny" act={() => complete('deny')} />
      <LinkButton label="Open" href={link.link} target="_blank" rel="noreferrer" />
      <CopyButton text={() => link.link} label="Copy link" />
    </div>
  )
}
