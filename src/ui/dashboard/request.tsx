import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { wayOf } from '../../model/domain/action.ts'
import { plural } from '../../model/domain/text.ts'
import { call, type Explanation, type Request, saveAs, type Schemas, type TimelineEntry, serverUrl } from './api.ts'
import { correctedBy } from './corrected.ts'
import { close, compare, isAnswered, titleOf } from './entry.ts'
import { type Failure, FAILURES, failureScenario, failuresOf } from './failure.ts'
import { findingView, momentOf, timeOf, tookOf } from './format.ts'
import { Facts, Id, Items, Json, Status, Tag } from './content.tsx'
import { Button, SmallButton } from './controls.tsx'
import { Detail, Loading, Problem, Section } from './layout.tsx'
import { inEnvironment, linkTo, route, setParameters } from './hash-route.ts'
import { listen } from './keyboard.ts'
import { change, timeline } from './live.ts'
import { sendAgain, SendAndCopy } from './send-again.tsx'
import { curlOf } from './snippets.ts'
import { OnDemand } from './on-demand.tsx'
import { pathOf, useAction, useApi } from './use-api.ts'

export function RequestDetail({ id }: Readonly<{ id: string }>) {
  const { with: other = '' } = route.value.parameters
  if (other === '') return <OneRequest id={id} />
  return <OnDemand>{({ Comparison }) => <Comparison key={other} id={id} other={other} />}</OnDemand>
}

const GONE = 'This request is no longer in the journal.'

function OneRequest({ id }: Readonly<{ id: string }>) {
  const path = pathOf('requests', id)
  const { value, error } = useApi<{ request: Request }>(path)
  const explanation = useApi<Explanation>(`${path}/explain`)
  const request = value?.request
  return (
    <Detail
      label="Request"
      name={request && [isAnswered(request) ? request.status || 'no answer' : '', titleOf(request)].join(' ').trim()}
      close={close}
      title={
        <>
          {request && isAnswered(request) && <Status status={request.status} />}
          <h2>{request ? titleOf(request) : 'Request'}</h2>
        </>
      }
    >
      {(error?.status === 404 || !request) && (
        <Loading error={error} gone={request ? `${GONE} It stays here until it is closed.` : GONE} />
      )}
      {request && <LoadedRequest request={request} explanation={explanation.value} />}
    </Detail>
  )
}

function LoadedRequest({ request, explanation }: Readonly<{ request: Request; explanation: Explanation | undefined }>) {
  const { account_state: account } = request
  const tab = isAnswered(request) ? (TABS.find(([name]) => name === route.value.parameters['tab'])?.[0] ?? '') : ''
  const success = lastSuccess(request)
  useEffect(() => {
    const keys = TABS.map(([name], at) => [String(at + 1), () => setParameters({ tab: name })] as const)
    const copy = (): void => void navigator.clipboard.writeText(curlOf(request, serverUrl()))
    const failNext = (): void => {
      setParameters({ tab: '' })
      setTimeout(() => document.querySelector<HTMLElement>('.fail-next button')?.focus())
    }
    return listen({ ...Object.fromEntries(keys), c: copy, f: failNext })
  }, [request])
  return (
    <>
      {isAnswered(request) && <Tabs tab={tab} />}
      <div class="detail-body" role={isAnswered(request) ? 'tabpanel' : undefined} aria-labelledby={`tab-${tab}`}>
        {tab === 'request' ? (
          <SentRequest request={request} />
        ) : tab === 'answer' ? (
          <Message message={request.response} />
        ) : (
          <>
            {explanation && isAnswered(request) && <Why explanation={explanation} request={request} />}
            <Section title="What happened">
              {explanation && <Sequence steps={explanation.steps} />}
              {success && (
                <div class="buttons">
                  <SmallButton
                    label={request.status >= 400 ? 'Compare with the last success' : 'Compare with the one before'}
                    onClick={() => compare(request, success)}
                  />
                </div>
              )}
            </Section>
            <EventsOf id={request.id} />
            {request.operation !== null && <NextTime request={request} />}
            {isAnswered(request) && !request.webhook && <SaveAsScenario request={request} />}
            <Findings title="Findings" items={request.findings.map(findingItem)} />
            <Section title="Facts">
              <Facts
                facts={[
                  ['Request id', <Id id={request.id} />],
                  ["Mock's time", <span class="mono">{`${momentOf(request.at)}.${timeOf(request.at).slice(9)}`}</span>],
                  ['Real time', <span class="mono">{momentOf(request.real_at)}</span>],
                  ['Took', isAnswered(request) ? tookOf(request.duration_ms) : null],
                  ['Protocol', request.protocol === 'http' ? null : request.protocol],
                  ['Client', request.client && <code>{request.client}</code>],
                  ['MCP client', request.mcp_client],
                  [
                    'Account',
                    account && (
                      <>
                        <a href={linkTo('accounts', account.id, inEnvironment())}>{account.identifier}</a> at{' '}
                        {account.connector}, {account.status}
                      </>
                    ),
                  ],
                  ['Execution', request.execution && <Id id={request.execution} />],
                  ['Agent run', request.agent_run_id && <Id id={request.agent_run_id} />],
                  ['Failure', request.failure],
                  ['Event', request.webhook && <code>{request.webhook.event}</code>],
                  ['Webhook', request.webhook?.name],
                  [
                    'Caused by',
                    request.webhook?.cause && (
                      <a href={linkTo('timeline', request.webhook.cause, { in: request.environment })}>
                        <code>{request.webhook.cause}</code>
                      </a>
                    ),
                  ],
                  ['Environment', request.environment],
                  ['Test', request.test && textOfTest(request.test)],
                ]}
              />
            </Section>
          </>
        )}
      </div>
    </>
  )
}

/** The newest request before this one that succeeded in the same: of its account, else of any. */
function lastSuccess({ id, real_at, operation, tool, account }: Request): TimelineEntry | undefined {
  const same = timeline
    .matching({ status: '2' })
    .filter(
      (entry) => entry.id !== id && entry.tool === tool && entry.operation === operation && entry.real_at <= real_at,
    )
  return same.find((entry) => entry.account === account) ?? same[0]
}

const TABS = [
  ['', 'Overview'],
  ['request', 'Request'],
  ['answer', 'Answer'],
] as const

function Tabs({ tab }: Readonly<{ tab: string }>) {
  return (
    <div class="row tabs" role="tablist" aria-label="Parts of the request">
      {TABS.map(([name, text], at) => (
        <Button
          key={name}
          id={`tab-${name}`}
          label={text}
          role="tab"
          aria-selected={name === tab}
          tabIndex={name === tab ? 0 : -1}
          onClick={() => setParameters({ tab: name })}
          onKeyDown={({ key, currentTarget }) => {
            const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
            const next = TABS[(at + step + TABS.length) % TABS.length]
            if (step === 0 || !next) return
            setParameters({ tab: next[0] })
            currentTarget.parentElement?.querySelector<HTMLElement>(`#tab-${next[0]}`)?.focus()
          }}
        />
      ))}
    </div>
  )
}

/** Whether a page can send the request: one over HTTP, to the service, whose body is whole. */
function canSend({ kind, protocol, request }: Request): boolean {
  return kind === 'request' && protocol === 'http' && request.truncated === undefined
}

function SentRequest({ request }: Readonly<{ request: Request }>) {
  return (
    <>
      <div class="column sent">
        {canSend(request) && <SendAndCopy request={request} />}
        <p class="mono">
          {request.method} {request.path}
        </p>
        {Object.keys(request.query).length > 0 && <Json value={request.query} />}
      </div>
      <Message message={request.request} />
    </>
  )
}

function Message({ message }: Readonly<{ message: Request['request'] }>) {
  const { headers, body, truncated } = message
  return (
    <>
      <Section title="Body">
        {body === null ? <p class="quiet">no body</p> : <Json value={body} />}
        {truncated !== undefined && <p class="quiet">{truncated}</p>}
      </Section>
      {Object.keys(headers).length > 0 && (
        <Section title="Headers" note={plural(Object.keys(headers).length, 'header')}>
          <Facts facts={Object.entries(headers).map(([name, value]) => [name, <span class="mono">{value}</span>])} />
        </Section>
      )}
    </>
  )
}

/** The explanation of the answer. Its facts are collapsed for a success. */
function Why({ explanation, request }: Readonly<{ explanation: Explanation; request: Request }>) {
  const { cause, because, facts, actions } = explanation
  const { busy, error, run } = useAction()
  return (
    <Section title="Why">
      <p>{cause.map((part) => (part.ref === undefined ? part.text : <a href={hrefOf(part)}>{part.text}</a>))}</p>
      {because !== null && <p>{because}</p>}
      {facts.length > 0 && (
        <details open={request.status === 0 || request.status >= 400}>
          <summary class="quiet">{plural(facts.length, 'fact')} behind it</summary>
          <Items items={facts} />
        </details>
      )}
      {actions.length > 0 && (
        <Items
          items={actions.map((action) => {
            const act = actOf(action, request)
            return act ? <SmallButton label={action.text} disabled={busy} onClick={() => run(act)} /> : action.text
          })}
          tone="info"
          label="What to do"
        />
      )}
      <Problem error={error} />
    </Section>
  )
}

function hrefOf({ ref, id = '' }: Explanation['cause'][number]): string {
  const view = ref === 'account' ? 'accounts' : ref === 'request' ? 'timeline' : 'scenarios'
  return linkTo(view, id.split('/', 1).join(), inEnvironment())
}

/** What the button of an action does; undefined for what only the program under test can do. */
function actOf(action: Explanation['actions'][number], request: Request): (() => Promise<unknown>) | undefined {
  const corrected = canSend(request) ? correctedBy(action, request) : undefined
  if (corrected) return () => sendAgain(corrected)
  const way = wayOf(action)
  if (!way) return undefined
  const [method, path, body] = way.call
  return () => change(method, pathOf(...path), body && { body })
}

/** The attempts to send the events that a request caused. */
function EventsOf({ id }: Readonly<{ id: string }>) {
  const attempts = useApi<{ requests: readonly Request[] }>('/requests', { cause: id }).value?.requests ?? []
  const items = attempts.map(({ id: attempt, environment, status, webhook }) => (
    <>
      <Status status={status} />{' '}
      <a href={linkTo('timeline', attempt, { in: environment })}>{webhook?.type.replace('connected_account.', '')}</a>{' '}
      to {webhook?.name}, attempt {webhook?.attempt}
    </>
  ))
  return <Findings title="Events sent" items={items} />
}

function NextTime({ request }: Readonly<{ request: Request }>) {
  const { busy, error, run } = useAction()
  const { value } = useApi<Schemas['Scenarios']>('/scenarios')
  const failures = failuresOf(request)
  // Another tab may have started it.
  const names = failures.map((failure) => failureScenario(request, failure).name)
  const running = value?.scenarios.find(({ name, running: runs }) => runs && names.includes(name))
  const start = (failure: Failure): void =>
    run(async () => {
      const scenario = failureScenario(request, failure)
      const path = `/scenarios/${scenario.name}`
      await call('PUT', path, { body: scenario })
      await change('POST', `${path}/start`)
    })
  const stop = (name: string): void => run(() => change('POST', pathOf('scenarios', name, 'stop')))
  return (
    <Section title="Fail this next time" class="fail-next">
      {running && !running.spent ? (
        <p class="notice info" role="status">
          <span>
            {running.description} The scenario{' '}
            <a href={linkTo('scenarios', running.name, inEnvironment())}>{running.name}</a> is running.{' '}
            <SmallButton label="Stop it" disabled={busy} onClick={() => stop(running.name)} />
          </span>
        </p>
      ) : (
        <>
          {running && <p role="status">It failed as asked: {running.description}</p>}
          <div class="buttons">
            {failures.map((failure) => (
              <SmallButton key={failure} label={FAILURES[failure][0]} disabled={busy} onClick={() => start(failure)} />
            ))}
          </div>
        </>
      )}
      <Problem error={error} />
    </Section>
  )
}

function SaveAsScenario({ request }: Readonly<{ request: Request }>) {
  const { busy, error, run } = useAction()
  const [saved, setSaved] = useState<Schemas['Replay'] | undefined>(undefined)
  const save = (): void =>
    run(async () => {
      const replay = await call<Schemas['Replay']>('POST', pathOf('requests', request.id, 'scenario'))
      await call('PUT', pathOf('scenarios', replay.scenario.name), { body: replay.scenario })
      setSaved(replay)
    })
  return (
    <Section title="Reproduce in a test">
      {saved ? (
        <div role="status">
          <p>
            Saved as <a href={linkTo('scenarios', saved.scenario.name, inEnvironment())}>{saved.scenario.name}</a>. It
            needs its seed, and a clock that starts at <code>{saved.clock}</code>.
          </p>
          {saved.notes.length > 0 && <Items items={saved.notes} />}
          <div class="buttons">
            <SmallButton
              label="Download the scenario"
              onClick={() => saveDocument(saved.scenario, `${saved.scenario.name}.json`)}
            />
            <SmallButton
              label="Download its seed"
              onClick={() => saveDocument(saved.seed, `${saved.scenario.name}-seed.json`)}
            />
          </div>
        </div>
      ) : (
        <div class="buttons">
          <SmallButton label="Save as scenario" disabled={busy} onClick={save} />
        </div>
      )}
      <Problem error={error} />
    </Section>
  )
}

function saveDocument(document: object, name: string): void {
  saveAs(new Blob([`${JSON.stringify(document, null, 2)}\n`], { type: 'application/json' }), name)
}

type Step = Schemas['RequestStep']

const LANES: readonly Schemas['Participant'][] = ['caller', 'service', 'third party']

/** The steps as arrows between three lanes. A screen reader reads them as a list. */
function Sequence({ steps }: Readonly<{ steps: readonly Step[] }>) {
  return (
    <div class="sequence">
      <div class="row lanes" aria-hidden="true">
        {LANES.map((lane) => (
          <span key={lane}>{lane}</span>
        ))}
      </div>
      <ol>
        {steps.map((step, index) => {
          const [from, to] = [LANES.indexOf(step.from), LANES.indexOf(step.to)]
          const isWithin = from === to
          const detail = [step.detail, step.ms !== null && `after ${tookOf(step.ms)}`].filter(Boolean).join(' · ')
          const column = isWithin ? (from === 2 ? '3 / -1' : '1 / -1') : Math.min(from, to) + 2
          return (
            <li key={index} class={`step ${step.tone}`}>
              <span class="visually-hidden">{isWithin ? `${step.from}: ` : `${step.from} to ${step.to}: `}</span>
              <div class={isWithin ? 'within' : ''} style={{ gridColumn: column }}>
                <strong>{step.text}</strong>
                {!isWithin && <div class={`arrow ${from < to ? '' : 'left'}`} aria-hidden="true" />}
                {detail !== '' && <small>{detail}</small>}
              </div>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

/** A part for what was found, if anything was. */
function Findings({ title, items }: Readonly<{ title: string; items: readonly ComponentChildren[] }>) {
  if (items.length === 0) return null
  return (
    <Section title={title}>
      <Items items={items} />
    </Section>
  )
}

function findingItem(finding: Request['findings'][number]) {
  const { text, tone, code, basis } = findingView(finding)
  return (
    <>
      {text} <Tag tone={tone}>{code}</Tag> <small class="mono">{basis}</small>
    </>
  )
}

/** `accounts > lists them test/accounts.test.ts:12` */
function textOfTest({ name, file, line }: NonNullable<Request['test']>): string {
  return [name, file && [file, line].join(':')].join(' ')
}
