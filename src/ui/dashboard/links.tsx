import { useState } from 'preact/hooks'
import { shellQuote } from '../../model/domain/text.ts'
import { type Schemas, serverUrl } from './api.ts'
import { distanceOf } from './format.ts'
import { change, clockNow } from './live.ts'
import { Tag } from './content.tsx'
import { CopyButton, Dialog, Field, Form, SmallButton } from './controls.tsx'
import { Empty, Problem } from './layout.tsx'
import { ListView } from './list-view.tsx'
import { go, inEnvironment, linkTo, NEW, route, setParameters } from './hash-route.ts'
import { pathOf, useAction, useApi } from './use-api.ts'

type Link = Schemas['Link']
type Connector = Schemas['Connectors']['connectors'][number]

interface Decided {
  readonly link: Link
  readonly decision: 'approve' | 'deny'
  readonly redirect: string
  readonly person: string
}

export function LinksView() {
  const { value, error } = useApi<Schemas['Links']>('/links')
  const connectors = useApi<Schemas['Connectors']>('/connectors').value?.connectors ?? []
  const [decided, setDecided] = useState<Decided | undefined>(undefined)
  const { id, parameters } = route.value
  const now = clockNow.value ?? 0
  const peopleOf = (link: Link): readonly string[] =>
    connectors.find(({ connector }) => connector === link.connector)?.people ?? []
  return (
    <>
      <ListView
        view="links"
        noun="open link"
        rows={value?.links}
        idOf={(link) => link.id}
        nameOf={({ identifier }) => identifier}
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
            cell: (link) => <Decide link={link} people={peopleOf(link)} done={setDecided} />,
          },
        ]}
        controls={
          <a class="button small" href={linkTo('links', NEW, parameters)}>
            New link
          </a>
        }
        empty={
          <Empty title="No link is open." command={linkCommand(connectors[0]?.connector ?? 'mail')}>
            <p>A client asks for one to connect an account. Create one with New link to try it, or from a shell:</p>
          </Empty>
        }
      >
        {decided && <Done decided={decided} />}
      </ListView>
      {id === NEW && (
        <Dialog title="New link" onClose={() => go('links')}>
          <NewLink connectors={connectors} />
        </Dialog>
      )}
    </>
  )
}

function Done({ decided: { link, decision, person, redirect } }: Readonly<{ decided: Decided }>) {
  return (
    <p class="notice info" role="status">
      <span>
        {decision === 'approve' ? 'Approved' : 'Denied'}: <strong>{link.identifier}</strong> at {link.connector}
        {person !== '' && (
          <>
            , signed in as <strong>{person}</strong>
          </>
        )}
        . The redirect goes to <code>{redirect}</code>.{' '}
        <a href={linkTo('accounts', '', { q: link.identifier })}>Show the account</a>
      </span>
    </p>
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
  const { busy, error, run } = useAction()
  const chosen = connector === '' ? (connectors[0]?.connector ?? '') : connector
  const people = connectors.find((each) => each.connector === chosen)?.people ?? []
  const create = (): void =>
    run(async () => {
      const body = { connector: chosen, identifier, ...(verifyUrl === '' ? {} : { user_verify_url: verifyUrl }) }
      await change('POST', '/links', { body })
      go('links')
    })
  return (
    <Form aria-label="New link" submit={create}>
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
        label={
          <>
            Verify URL <span class="quiet">optional</span>
          </>
        }
        type="url"
        value={verifyUrl}
        placeholder="http://localhost:3000/verified"
        onInput={setVerifyUrl}
      />
      <button class="primary" disabled={busy || identifier === '' || chosen === ''}>
        Create link
      </button>
      <Problem error={error} />
    </Form>
  )
}

function Decide({
  link,
  people,
  done,
}: Readonly<{ link: Link; people: readonly string[]; done: (decided: Decided) => void }>) {
  const { busy, error, run } = useAction()
  const [as, setAs] = useState(link.signs_in_as ?? '')
  const complete = (decision: 'approve' | 'deny'): void =>
    run(async () => {
      const person = decision === 'approve' ? as : ''
      const body = { decision, ...(person !== '' && { as: person }) }
      const path = pathOf('links', link.id, 'complete')
      const { redirect_url: redirect } = await change<Schemas['Redirect']>('POST', path, { body })
      done({ link, decision, redirect, person })
    })
  return (
    <div class="row wrap">
      {link.signs_in_as !== null && (
        <Field label="Sign in as" wrap="choice" value={as} among={people} onInput={setAs} />
      )}
      <span class="space" />
      <SmallButton
        label="Approve"
        class="primary"
        disabled={busy || (link.signs_in_as !== null && as === '')}
        onClick={() => complete('approve')}
      />
      <SmallButton label="Deny" disabled={busy} onClick={() => complete('deny')} />
      <a class="button small" href={link.link} target="_blank" rel="noreferrer">
        Open
      </a>
      <CopyButton text={() => link.link} label="Copy link" />
      <Problem error={error} />
    </div>
  )
}
