import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { wayOf } from '../../model/domain/action.ts'
import { findingText, isViolation } from '../../model/domain/finding.ts'
import { plural } from '../../model/domain/text.ts'
import { perform } from './actions.ts'
import type { Explanation, Request, Schemas, TimelineEntry } from './api.ts'
import { call, change, pathOf, saveAs, useApi } from './api.ts'
import { Facts, Id, Items, Json, openTab, Section, ShellCommand, Status, Tabs, Tag } from './content.tsx'
import { Button, Menu, openMenu, SmallButton, useCopy } from './controls.tsx'
import { correctedBy } from './corrected.ts'
import { compare, isAnswered, titleOf } from './entry.ts'
import { type Failure, FAILURES, failureScenario, failuresOf } from './failure.ts'
import { momentOf, timeOf, toneOf, tookOf } from './format.ts'
import { inEnvironment, linkTo, route } from './hash-route.ts'
import { listen } from './keyboard.ts'
import { Detail } from './list-view.tsx'
import { timeline } from './live.ts'
import { loadParts, OnDemand } from './on-demand.tsx'
import type { Language } from './send-again.tsx'

export function RequestDetail({ id }: Readonly<{ id: string }>) {
  const { with: other = '' } = route.value.parameters
  if (other === '') return <OneRequest id={id} />
  return <OnDemand>{({ Comparison }) => <Comparison key={other} id={id} other={other} />}</OnDemand>
}

function OneRequest({ id }: Readonly<{ id: string }>) {
  const path = pathOf('requests', id)
  const { value, error } = useApi<{ request: Request }>(path)
  const explanation = useApi<Explanation>(`${path}/explain`).value
  const request = value?.request
  const isAnswer = request !== undefined && isAnswered(request)
  const title = request && titleOf(request)
  useEffect(() => listen({ 1: () => openTab(''), 2: () => openTab('answer'), 3: () => openTab('facts') }), [])
  return (
    <Detail
      label="Request"
      name={isAnswer ? `${request.status || 'no answer'} ${title}` : title}
      heading={title}
      tags={
        isAnswer ? [<Status status={request.status} />, <small class="summary">{summaryOf(request)}</small>] : undefined
      }
      value={request}
      error={error}
      gone="This request is no longer in the journal."
      footer={isAnswer && !request.webhook && <ActionBar request={request} />}
    >
      {(current) => (
        <>
          {explanation && isAnswer && hasNews(current) && <Cause explanation={explanation} request={current} />}
          {explanation && <Sequence steps={explanation.steps} />}
          <EventsOf id={id} />
          {isAnswer ? (
            <Tabs
              label="Parts of the request"
              tabs={[
                ['', 'Request', () => <SentRequest request={current} />],
                ['answer', 'Response', () => <Message message={current.response} />],
                ['facts', 'Facts', () => <RequestFacts request={current} facts={explanation?.facts} />],
              ]}
            />
          ) : (
            <RequestFacts request={current} facts={explanation?.facts} />
          )}
        </>
      )}
    </Detail>
  )
}

function hasNews({ status, findings, refreshes, webhook }: Request): boolean {
  return status === 0 || status >= 400 || findings.length > 0 || refreshes.length > 0 || webhook !== null
}

function RequestFacts({ request, facts = [] }: Readonly<{ request: Request; facts?: readonly string[] | undefined }>) {
  const { account_state: account, webhook } = request
  return (
    <div class="column sent">
      {facts.length > 0 && <Items items={facts} />}
      <Facts
        facts={[
          ['Request id', <Id id={request.id} />],
          ["Mock's time", <span class="mono">{`${momentOf(request.at)}.${timeOf(request.at).slice(9)}`}</span>],
          ['Real time', <span class="mono">{momentOf(request.real_at)}</span>],
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
          ['Event', webhook && <code>{webhook.event}</code>],
          ['Webhook', webhook?.name],
          [
            'Caused by',
            webhook?.cause && (
              <a href={linkTo('timeline', webhook.cause, { in: request.environment })}>
                <code>{webhook.cause}</code>
              </a>
            ),
          ],
          ['Environment', request.environment],
        ]}
      />
    </div>
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

/** Whether a page can send the request: one over HTTP, to the service, whose body is whole. */
function canSend({ kind, protocol, request }: Request): boolean {
  return kind === 'request' && protocol === 'http' && request.truncated === undefined
}

function SentRequest({ request }: Readonly<{ request: Request }>) {
  return (
    <>
      <div class="column sent">
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
        {body === null && truncated === undefined ? (
          <p class="quiet">no body</p>
        ) : (
          <Json value={body} cut={truncated} />
        )}
      </Section>
      {Object.keys(headers).length > 0 && (
        <Section title="Headers" note={plural(Object.keys(headers).length, 'header')}>
          <Facts facts={Object.entries(headers).map(([name, value]) => [name, <span class="mono">{value}</span>])} />
        </Section>
      )}
    </>
  )
}

/** Why the answer is what it is: one sentence, its findings, and what can be done about it, first by a button. */
function Cause({ explanation, request }: Readonly<{ explanation: Explanation; request: Request }>) {
  const { cause, because, findings, actions } = explanation
  const tone = findings.some(isViolation) || request.status === 0 ? 'error' : toneOf(request.status)
  const text = cause
    .map((part) => part.text)
    .join('')
    .toLowerCase()
  const acts = actions.map((action) => [action, actOf(action, request)] as const)
  const canEdit = canSend(request) && findings.length > 0 && !acts.some(([, act]) => act)
  return (
    <section class={`column cause ${tone}`} aria-label="Cause">
      <p>{cause.map((part) => (part.ref === undefined ? part.text : <a href={hrefOf(part)}>{part.text}</a>))}</p>
      {because !== null && <p class="quiet">{because}</p>}
      {findings.map((finding, at) => (
        <p key={at}>
          <Tag tone={finding.kind === 'violation' ? 'error' : 'warning'}>{finding.kind}</Tag>{' '}
          {!text.startsWith(findingText(finding).toLowerCase()) && `${findingText(finding)} `}
          <small class="mono">{finding.basis}</small>
        </p>
      ))}
      {acts.map(([action, act], at) =>
        act ? (
          <Button key={at} label={action.text.replace(/\.$/, '')} class={at === 0 ? 'primary' : ''} act={act} />
        ) : (
          <p key={at}>→ {action.text}</p>
        ),
      )}
      {canEdit && <Button label="Edit and send" class="primary" onClick={() => (isEditing.value = true)} />}
    </section>
  )
}

function hrefOf({ ref, id = '' }: Explanation['cause'][number]): string {
  const view = ref === 'account' ? 'accounts' : ref === 'request' ? 'timeline' : 'scenarios'
  return linkTo(view, id.split('/', 1).join(), inEnvironment())
}

/** What the button of an action does; undefined for what only the program under test can do. */
function actOf(action: Explanation['actions'][number], request: Request): (() => Promise<unknown>) | undefined {
  const corrected = canSend(request) ? correctedBy(action, request) : undefined
  if (corrected) return () => loadParts().then(({ sendAgain }) => sendAgain(corrected))
  const way = wayOf(action)
  if (!way) return undefined
  const [method, path, body] = way.call
  return () => change(method, pathOf(...path), body && { body })
}

/** The attempts to send the events that a request caused. */
function EventsOf({ id }: Readonly<{ id: string }>) {
  const attempts = useApi<{ requests: readonly Request[] }>('/requests', { cause: id }).value?.requests ?? []
  if (attempts.length === 0) return null
  return (
    <Section title="Events sent">
      {attempts.map(({ id: attempt, environment, status, webhook }) => (
        <p key={attempt}>
          <Status status={status} />{' '}
          <a href={linkTo('timeline', attempt, { in: environment })}>
            {webhook?.type.replace('connected_account.', '')}
          </a>{' '}
          to {webhook?.name}, attempt {webhook?.attempt}
        </p>
      ))}
    </Section>
  )
}

/** Whether the dialog that edits the open request is open. */
const isEditing = signal(false)

/** What can be done with a request, at the bottom of its view. */
function ActionBar({ request }: Readonly<{ request: Request }>) {
  const [copyLabel, copyText] = useCopy()
  const [saved, setSaved] = useState<Schemas['Replay'] | undefined>(undefined)
  const { value } = useApi<Schemas['Scenarios']>(request.operation === null ? null : '/scenarios')
  const failures = failuresOf(request)
  // Another tab may have started it.
  const names = failures.map((failure) => failureScenario(request, failure).name)
  const running = value?.scenarios.find(({ name, running: runs }) => runs && names.includes(name))
  const success = lastSuccess(request)
  const isSendable = canSend(request)
  const send = () => loadParts().then(({ sendAgain }) => sendAgain(request))
  const copy = async (language: Language): Promise<void> => {
    const { snippetIn } = await loadParts()
    copyText(snippetIn(language, request))
  }
  const fail = async (failure: Failure): Promise<void> => {
    const scenario = failureScenario(request, failure)
    const path = `/scenarios/${scenario.name}`
    await call('PUT', path, { body: scenario })
    await change('POST', `${path}/start`)
  }
  const save = async (): Promise<void> => {
    const replay = await call<Schemas['Replay']>('POST', pathOf('requests', request.id, 'scenario'))
    await call('PUT', pathOf('scenarios', replay.scenario.name), { body: replay.scenario })
    setSaved(replay)
  }
  useEffect(() => {
    const keys = { r: () => perform(send), c: () => perform(() => copy('curl')) }
    return listen({ f: () => openMenu('Fail next'), ...(isSendable && keys) })
  })
  useEffect(() => () => void (isEditing.value = false), [])
  return (
    <footer class="column actions">
      {running && (
        <p class="notice info" role="status">
          {running.spent ? (
            `It failed as asked: ${running.description}`
          ) : (
            <span>
              {running.description} <a href={linkTo('scenarios', running.name, inEnvironment())}>Its scenario</a> is
              running.{' '}
              <SmallButton label="Stop it" act={() => change('POST', pathOf('scenarios', running.name, 'stop'))} />
            </span>
          )}
        </p>
      )}
      {saved && <Saved replay={saved} />}
      <div class="buttons">
        {isSendable && (
          <Menu
            label="Send again"
            items={[
              ['As it was', send],
              ['Edit and send', () => (isEditing.value = true)],
            ]}
          />
        )}
        {failures.length > 0 && (
          <Menu
            label="Fail next"
            first={[FAILURES.rate_limited[0], () => fail('rate_limited')]}
            items={failures.map((failure) => [FAILURES[failure][0], () => fail(failure)])}
          />
        )}
        {success && (
          <SmallButton
            label="Compare"
            title={request.status >= 400 ? 'With the last success' : 'With the one before'}
            onClick={() => compare(request, success)}
          />
        )}
        {isSendable && (
          <Menu label={copyLabel} items={LANGUAGES.map((language) => [`As ${language}`, () => copy(language)])} />
        )}
        <SmallButton label="Save as scenario" act={save} />
        {request.request.truncated !== undefined && <small>Its body was cut: it cannot be sent or copied.</small>}
      </div>
      {isEditing.value && (
        <OnDemand>{({ Edit }) => <Edit request={request} close={() => (isEditing.value = false)} />}</OnDemand>
      )}
    </footer>
  )
}

const LANGUAGES: readonly Language[] = ['curl', 'TypeScript', 'Python']

function Saved({ replay: { scenario, seed, clock, mcp, notes } }: Readonly<{ replay: Schemas['Replay'] }>) {
  const { name } = scenario
  const save = async (): Promise<void> => {
    const { document } = await call<Schemas['ScenarioWithDocument']>('GET', pathOf('scenarios', name))
    saveAs(new Blob([document ?? JSON.stringify(scenario)]), `${name}.yaml`)
    saveAs(new Blob([`${JSON.stringify(seed, null, 2)}\n`]), `${name}-seed.json`)
  }
  const flags = `--seed ${name}-seed.json --scenario ${name}.yaml --clock ${clock}${mcp ? ' --mcp' : ''}`
  return (
    <div class="column" role="status">
      <p>
        Saved as <a href={linkTo('scenarios', name, inEnvironment())}>{name}</a>. Its files and this command start a
        mock in which it happens again:
      </p>
      <ShellCommand text={`npx toolmock start ${flags}`} />
      {/* Every other rule of such a scenario has to fire. */}
      {scenario.rules.every((rule) => rule['must_fire'] === false) && (
        <p class="expired">Its rule does nothing: the client and the seed alone cause what happened.</p>
      )}
      {notes.length > 0 && <Items items={notes} />}
      <div class="buttons">
        <SmallButton label="Download scenario and seed" act={save} />
      </div>
    </div>
  )
}

type Step = Schemas['RequestStep']

const LANES: readonly Schemas['Participant'][] = ['caller', 'service', 'third party']

/** The steps as arrows between three lanes, each with its title above. A screen reader reads them as a list. */
function Sequence({ steps }: Readonly<{ steps: readonly Step[] }>) {
  return (
    <div class="sequence">
      <div class="row lanes" aria-hidden="true">
        {LANES.map((lane) => (
          <span key={lane}>{lane}</span>
        ))}
      </div>
      <ol aria-label="Steps">
        {steps.map((step, index) => {
          const [from, to] = [LANES.indexOf(step.from), LANES.indexOf(step.to)]
          const isWithin = from === to
          const detail = [step.detail, step.ms !== null && tookOf(step.ms)].filter(Boolean).join(' · ')
          const column = isWithin ? (from === 2 ? '3 / -1' : '1 / -1') : Math.min(from, to) + 2
          return (
            <li key={index} class={`step ${step.tone}`}>
              <span class="visually-hidden">{isWithin ? `${step.from}: ` : `${step.from} to ${step.to}: `}</span>
              <div
                class={isWithin ? 'within' : `arrow ${from < to ? '' : 'left'}`}
                style={{ gridColumn: column }}
                title={[step.text, detail].filter(Boolean).join(' · ')}
              >
                <strong>{step.text}</strong> <small>{detail}</small>
              </div>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

/** Who asked, where and how long it took: one line. */
function summaryOf({ error_code: code, account_state: account, duration_ms: took, test }: Request): string {
  const testText = test && `test "${test.name}" ${test.file === null ? '' : [test.file, test.line].join(':')}`
  return [code, account?.identifier, account?.connector, tookOf(took), testText?.trim()].filter(Boolean).join(' · ')
}
