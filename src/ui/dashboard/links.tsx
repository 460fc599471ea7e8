import { useState } from 'preact/hooks'
import { shellQuote } from '../../model/domain/text.ts'
import { type Schemas, serverUrl } from './api.ts'
import { distanceOf } from './format.ts'
import { change, clockNow } from './live.ts'
import { Tag } from './content.tsx'
import { CopyButton, Field, Form, SmallButton } from './controls.tsx'
import { Empty, Problem } from './layout.tsx'
import { inEnvironment, linkTo, route, setParameters } from './hash-route.ts'
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
  return (
    <div class="column page">
      <NewLink connectors={connectors} />
      {decided && (
        <p class="card" role="status">
          {decided.decision === 'approve' ? 'Approved' : 'Denied'}: <strong>{decided.link.identifier}</strong> at{' '}
          {decided.link.connector}
          {decided.person !== '' && (
            <>
              , signed in as <strong>{decided.person}</strong>
            </>
          )}
          . The redirect goes to <code>{decided.redirect}</code>.{' '}
          <a href={linkTo('accounts', '', { q: decided.link.identifier })}>Show the account</a>
        </p>
      )}
      <h2>Open links</h2>
      <Problem error={error} />
      {value && value.links.length === 0 && (
        <Empty title="No link is open." command={linkCommand(connectors[0]?.connector ?? 'mail')}>
          <p>A client asks for one to connect an account. Create one above to try it, or from a shell:</p>
        </Empty>
      )}
      <ul class="column">
        {value?.links.map((link) => (
          <LinkCard
            key={link.id}
            link={link}
            people={connectors.find(({ connector }) => connector === link.connector)?.people ?? []}
            done={setDecided}
          />
        ))}
      </ul>
    </div>
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
      setParameters({ identifier: '' })
    })
  return (
    <Form class="row wrap card row-form" aria-label="New link" submit={create}>
      <Field
        label="Connector"
        wrap="field"
        value={chosen}
        options={connectors.map(({ connector: name, display_name: shown }) => {
          return [name, shown === name ? name : `${shown} (${name})`]
        })}
        onInput={(next) => setParameters({ connector: next })}
      />
      <Field
        label="Identifier of the account"
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

function LinkCard({
  link,
  people,
  done,
}: Readonly<{ link: Link; people: readonly string[]; done: (decided: Decided) => void }>) {
  const { busy, error, run } = useAction()
  const [as, setAs] = useState(link.signs_in_as ?? '')
  const { value: now } = clockNow
  const complete = (decision: 'approve' | 'deny'): void =>
    run(async () => {
      const body = { decision, ...(decision === 'approve' && as !== '' ? { as } : {}) }
      const answer = await change<Schemas['Redirect']>('POST', pathOf('links', link.id, 'complete'), {
        body,
      })
      done({ link, decision, redirect: answer.redirect_url, person: decision === 'approve' ? as : '' })
    })
  return (
    <li class="column card">
      <p>
        <strong>{link.identifier}</strong> <span class="quiet">at {link.connector}</span>{' '}
        {now !== undefined && <Tag>expires {distanceOf(Date.parse(link.expiry), now)}</Tag>}
      </p>
      <div class="buttons">
        {link.signs_in_as !== null && (
          <Field label="Sign in as" wrap="choice" value={as} among={people} onInput={setAs} />
        )}
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
      </div>
      <Problem error={error} />
    </li>
  )
}
