import { useMemo, useState } from 'preact/hooks'
import { ACCOUNT_STATUSES, type AccountStatus } from '../../model/domain/account.ts'
import { LIFECYCLE_EVENTS, MOVES } from '../../model/domain/lifecycle.ts'
import { plural } from '../../model/domain/text.ts'
import { ApiError, call, change, pathOf, type Schemas, useApi } from './api.ts'
import { Empty, Facts, Id, Json, Section, Status } from './content.tsx'
import { ChoiceField, Field, Form, LinkButton, SmallButton } from './controls.tsx'
import { isAnswered, titleOf } from './entry.ts'
import { distanceOf, momentOf, timeOf, wordsOf } from './format.ts'
import { linkTo, NEW, route, setParameters } from './hash-route.ts'
import { fieldsOf, inputOf } from './input-form.ts'
import { linkCommand } from './links.tsx'
import { type Columns, Detail, ListView } from './list-view.tsx'
import { changeClock, clockNow, timeline } from './live.ts'

type Account = Schemas['Accounts']['accounts'][number]
type AccountWithTools = Schemas['AccountWithTools']
type Tool = Schemas['AccountTool']

const PAGE = 100

export function AccountsView() {
  const { q = '', status = '', connector = '', sort = 'newest', from = '0' } = route.value.parameters
  const offset = Math.max(0, Math.floor(Number(from)) || 0)
  const query = { query: q, status, connector, order: sort, limit: PAGE, offset }
  const { value, error } = useApi<Schemas['Accounts']>('/accounts', query)
  const connectors = useApi<Schemas['Connectors']>('/connectors').value?.connectors ?? []
  const all = Object.values(value?.statuses ?? {}).reduce((sum, count) => sum + count, 0)
  const total = value?.total_size ?? 0
  return (
    <ListView
      view="accounts"
      noun="account"
      rows={value?.accounts}
      columns={COLUMNS}
      idOf={({ id }) => id}
      total={all}
      note={plural(total, 'account')}
      error={error}
      controls={
        <>
          <ChoiceField
            name="connector"
            label="Connector"
            options={[['', 'any connector'], ...connectors.map((each) => [each.connector, each.connector] as const)]}
          />
          <ChoiceField
            name="status"
            label="Status"
            options={[
              ['', `any status (${all})`],
              ...ACCOUNT_STATUSES.map((name) => [name, `${name} (${value?.statuses[name] ?? 0})`] as const),
            ]}
          />
        </>
      }
      empty={
        <Empty title="No account yet." command={linkCommand('mail')}>
          <p>A client creates one through the API. Or create a link and follow it as the user would:</p>
          <LinkButton label="Create a link" href={linkTo('links', NEW)} />
        </Empty>
      }
      detail={(id) => <AccountDetail id={id} />}
    >
      <Pages total={total} offset={offset} />
    </ListView>
  )
}

/** The server sorts them, because it sends them in pages. */
const COLUMNS: Columns<Account> = [
  { title: 'Account', sort: 'identifier', value: ({ identifier }) => identifier },
  { title: 'Connector', sort: 'connector', width: 128, value: ({ connector }) => connector },
  { title: 'Status', sort: 'status', width: 184, cell: ({ status }) => <State status={status} /> },
  {
    title: 'Access token',
    sort: 'token_expires_at',
    width: 184,
    class: 'roomy',
    cell: (account) => <TokenChip account={account} />,
  },
  {
    title: 'Type',
    width: 144,
    class: 'roomy',
    cell: ({ authorization_type }) => <small class="mono">{authorization_type}</small>,
  },
]

const TONES: { readonly [Status in AccountStatus]: string } = {
  ACTIVE: 'success',
  EXPIRED: 'warning',
  DISCONNECTED: 'error',
  PENDING_AUTH: 'info',
  PENDING_VERIFICATION: 'info',
}

function State({ status }: Readonly<{ status: AccountStatus }>) {
  return <span class={`state ${TONES[status]}`}>{status}</span>
}

/** When the access token expires. An account stays ACTIVE when it has expired and can be renewed. */
function TokenChip({ account: { status, token_expires_at: at } }: Readonly<{ account: Account }>) {
  const { value: now } = clockNow
  if (at === undefined || now === undefined) return <span class="quiet">no expiry</span>
  const isPast = status === 'ACTIVE' && Date.parse(at) <= now
  return (
    <span class={`tag number ${isPast ? 'warning' : ''}`} title={momentOf(at)}>
      {isPast && 'expired '}
      {distanceOf(Date.parse(at), now)}
    </span>
  )
}

function Pages({ total, offset }: Readonly<{ total: number; offset: number }>) {
  if (total <= PAGE) return null
  const goTo = (from: number): void => setParameters({ from: String(from) })
  return (
    <p class="row actions">
      <SmallButton label="Newer" disabled={offset === 0} onClick={() => goTo(Math.max(0, offset - PAGE))} />
      <span class="quiet number">
        {offset + 1} to {Math.min(total, offset + PAGE)} of {total}
      </span>
      <SmallButton label="Older" disabled={offset + PAGE >= total} onClick={() => goTo(offset + PAGE)} />
    </p>
  )
}

function AccountDetail({ id }: Readonly<{ id: string }>) {
  const { value, error } = useApi<AccountWithTools>(pathOf('accounts', id))
  const account = value?.account
  return (
    <Detail
      label="Account"
      name={account?.identifier}
      tags={account && [<State status={account.status} />, <span class="quiet">at {account.connector}</span>]}
      value={value}
      error={error}
    >
      {(current) => (
        <>
          <Lifecycle value={current} />
          <Tools id={id} tools={current.tools} />
          <History id={id} />
          <AccountFacts value={current} />
        </>
      )}
    </Detail>
  )
}

/** The text of the button of an event, and what it does. */
const EVENTS: { readonly [Event in AccountWithTools['events'][number]]: readonly [label: string, title: string] } = {
  expire: ['Expire', 'The account becomes EXPIRED: the user has to connect it again.'],
  disconnect: ['Disconnect', 'The account becomes DISCONNECTED, and the third party refuses its credentials.'],
  revoke_refresh_token: [
    'Revoke refresh token',
    'The third party revokes the refresh token: the next renewal is refused.',
  ],
  expire_access_token: [
    'Expire access token',
    'The access token expires now: the next use renews it, where it can be renewed.',
  ],
}

function Lifecycle({ value }: Readonly<{ value: AccountWithTools }>) {
  const { account, events } = value
  return (
    <Section title="Lifecycle">
      <LifecyclePicture account={account} />
      <div class="buttons" role="group" aria-label="Events">
        {events.map((event) => (
          <SmallButton
            key={event}
            label={EVENTS[event][0]}
            title={EVENTS[event][1]}
            act={() => change('POST', pathOf('accounts', account.id, event))}
          />
        ))}
        <LinkButton
          label="Create a magic link"
          href={linkTo('links', NEW, { connector: account.connector, identifier: account.identifier })}
        />
      </div>
      <TokenExpiry value={value} />
    </Section>
  )
}

/** The state of an account with an arrow to each next state, whose label has the events that lead there. */
function LifecyclePicture({ account }: Readonly<{ account: Account }>) {
  const { status } = account
  const away = MOVES.filter(({ from, to }) => from === status && to !== status)
  const targets = [...new Set(away.map(({ to }) => to))]
  return (
    <div class="lifecycle">
      <State status={status} />
      <ul aria-label={`Next states after ${status}`}>
        {targets.map((to) => (
          <li key={to}>
            <span class="arrow">
              {away
                .filter((move) => move.to === to)
                .map(({ event }, at) => (
                  <span key={event} title={LIFECYCLE_EVENTS[event]}>
                    {at > 0 && ', '}
                    {wordsOf(event)}
                  </span>
                ))}
            </span>
            {to === 'none' ? <span class="state">gone</span> : <State status={to} />}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Says when the access token expires, with a button that sets the clock to that time, or since when it has expired. */
function TokenExpiry({ value: { account, renewable, renewal_refused } }: Readonly<{ value: AccountWithTools }>) {
  const { token_expires_at: at } = account
  const { value: now } = clockNow
  if (at === undefined || now === undefined) return null
  const isOver = Date.parse(at) <= now
  if (isOver && account.status !== 'ACTIVE') return null
  const isRenewed = renewable && !renewal_refused
  const next = isOver
    ? isRenewed
      ? '; the next call renews it.'
      : '. Nothing can renew it: the third party refuses its refresh token, and the account is EXPIRED after the next call.'
    : isRenewed
      ? '; the next use then renews it.'
      : renewable
        ? '; the third party refuses its renewal then.'
        : '; the account is EXPIRED then.'
  return (
    <p class={isOver ? 'expired' : ''} role="status">
      Its access token {isOver ? 'expired' : 'expires'} <span class="number">{distanceOf(Date.parse(at), now)}</span>,
      at <span class="mono">{momentOf(at)}</span>
      {next} {!isOver && <SmallButton label="Jump there" act={() => changeClock({ now: at })} />}
    </p>
  )
}

function Tools({ id, tools }: Readonly<{ id: string; tools: readonly Tool[] }>) {
  const { parameters } = route.value
  const chosen = tools.find(({ name }) => name === parameters['tool']) ?? tools[0]
  if (!chosen) {
    return (
      <Section title="Tools">
        <p class="quiet">The connector has no tools.</p>
      </Section>
    )
  }
  return (
    <Section title="Try a tool">
      <ChoiceField name="tool" label="Tool" value={chosen.name} options={tools.map(({ name }) => [name, name])} />
      <p class="quiet">{chosen.description}</p>
      <ToolForm key={chosen.name} id={id} tool={chosen} />
    </Section>
  )
}

function ToolForm({ id, tool }: Readonly<{ id: string; tool: Tool }>) {
  const fields = useMemo(() => fieldsOf(tool.input_schema), [tool])
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [answer, setAnswer] = useState<Schemas['ToolAnswer'] | undefined>(undefined)
  const send = async (): Promise<void> => {
    const { input, problem } = inputOf(fields, values)
    if (problem !== undefined) throw new ApiError(0, problem)
    setAnswer(await call('POST', pathOf('accounts', id, 'tools', tool.name), { body: { input } }))
  }
  return (
    <>
      <Form label={`Run ${tool.name}`} submit={send}>
        {fields.map(({ name, kind, required, description, choices }) => (
          <Field
            key={name}
            label={name}
            note={`${required ? '' : 'optional'} ${kind === 'json' ? 'as JSON' : ''}`}
            value={values[name] ?? ''}
            hint={description}
            wrap="field"
            options={choices && ['', ...choices].map((choice) => [choice, choice])}
            rows={kind === 'json' ? 3 : undefined}
            inputMode={kind === 'number' ? 'decimal' : 'text'}
            onInput={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
      </Form>
      {answer && (
        <div class="column answer" role="status">
          <p>
            <Status status={answer.status} /> <a href={linkTo('timeline', answer.request)}>show the request</a>
          </p>
          <Json value={answer.body} />
        </div>
      )}
    </>
  )
}

const MAX_HISTORY = 50

function History({ id }: Readonly<{ id: string }>) {
  const version = timeline.version.value
  const entries = useMemo(() => timeline.matching({ account: id }).slice(0, MAX_HISTORY), [version, id])
  return (
    <Section title="History">
      {entries.length === 0 ? (
        <p class="quiet">The journal has no request about this account.</p>
      ) : (
        <ul class="column">
          {entries.map((entry) => (
            <li key={`${entry.environment} ${entry.sequence}`} class="row">
              <span class="mono quiet">{timeOf(entry.at).slice(0, 8)}</span>
              {isAnswered(entry) ? <Status status={entry.status} /> : <small class="mono">{entry.kind}</small>}
              <a href={linkTo('timeline', entry.id)}>{titleOf(entry)}</a>
            </li>
          ))}
          <li>
            <a href={linkTo('timeline', '', { account: id })}>in the timeline</a>
          </li>
        </ul>
      )}
    </Section>
  )
}

function AccountFacts({ value }: Readonly<{ value: AccountWithTools }>) {
  const { account, organization_id, user_id, renewable } = value
  return (
    <Section title="Facts" open={false}>
      <Facts
        facts={[
          ['Id', <Id id={account.id} />],
          ['Type', account.authorization_type],
          ['Organization', organization_id || 'none'],
          ['User', user_id || 'none'],
          ['Renewed without the user', renewable ? 'yes' : 'no'],
          ['Last used', account.last_used_at === undefined ? 'never' : momentOf(account.last_used_at)],
          ['Updated', momentOf(account.updated_at)],
        ]}
      />
      <Json value={account} />
    </Section>
  )
}
