import { firedText } from '../../model/domain/scenario.ts'
import type { Scenario, Schemas } from './api.ts'
import { wordsOf } from './format.ts'
import { change } from './live.ts'
import { Table, Tag } from './content.tsx'
import { SearchField, SmallButton } from './controls.tsx'
import { Detail, Empty, Loading, Problem, Section } from './layout.tsx'
import { go, linkTo, NEW_SCENARIO, route, setParameters } from './hash-route.ts'
import { OnDemand } from './on-demand.tsx'
import { pathOf, useAction, useApi } from './use-api.ts'
import { useListNavigation } from './keyboard.ts'

const STARTER = `name: my-scenario
description: The next tool call is refused once.
rules:
  - name: refused once
    at: service
    on: { operation: execute_tool }
    when: { first: 1 }
    do: [{ respond: { status: 429, headers: { Retry-After: 1 } } }]
    must_fire: false
`

export function ScenariosView() {
  const { id, parameters } = route.value
  const { q = '' } = parameters
  const { value, error } = useApi<Schemas['Scenarios']>('/scenarios')
  const all = value?.scenarios ?? []
  const scenarios = all
    .filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(q.toLowerCase()))
    .sort((a, b) => rank(a) - rank(b))
  useListNavigation(scenarios.length, () => go('scenarios', '', parameters))
  return (
    <div class="split">
      <div class="column list-side">
        <div class="buttons controls" role="search" aria-label="Scenarios">
          <SearchField label="Search scenarios" value={q} onInput={(text) => setParameters({ q: text })} />
          <a class="button small" href={linkTo('scenarios', NEW_SCENARIO)}>
            New scenario
          </a>
          <span class="space" />
          <small>
            {all.filter(({ running, spent }) => running && !spent).length} of {all.length} running
          </small>
        </div>
        <Problem error={error} />
        {value && scenarios.length === 0 && <Empty title="No scenario matches." />}
        <Table
          label="Scenarios"
          class="scenarios"
          heads={[['Scenario', 'wide'], ['State', 'type'], ['Fired', 'number'], 'Actions']}
          list={{
            open: scenarios.findIndex(({ name }) => name === id),
            choose: (row) => go('scenarios', scenarios[row]?.name, parameters),
          }}
          rows={scenarios.map((scenario, row) => [
            <>
              <a
                href={linkTo('scenarios', scenario.name, parameters)}
                data-row={row}
                aria-current={scenario.name === id ? 'true' : undefined}
              >
                {scenario.name}
              </a>
              <p class="quiet">{scenario.description}</p>
            </>,
            <StateTag scenario={scenario} />,
            scenario.started && scenario.rules.reduce((sum, { hits }) => sum + hits, 0),
            <StartStop scenario={scenario} />,
          ])}
        />
      </div>
      {id !== '' && <ScenarioDetail key={id} name={id} />}
    </div>
  )
}

/** Running scenarios come first, then spent and stopped ones, then those that were never started. */
function rank({ running, spent, started }: Scenario): number {
  if (running && !spent) return 0
  return started ? 1 : 2
}

function StateTag({ scenario: { running, spent, started, state } }: Readonly<{ scenario: Scenario }>) {
  return (
    <>
      {running && !spent && <Tag tone="success">running</Tag>}
      {spent && <Tag>spent</Tag>}
      {running && state !== null && state !== '' && <Tag tone="info">state {state}</Tag>}
      {!running && started && <Tag>stopped</Tag>}
    </>
  )
}

function StartStop({ scenario: { name, running } }: Readonly<{ scenario: Scenario }>) {
  const { busy, error, run } = useAction()
  const put = (verb: 'start' | 'stop'): void => run(() => change('POST', pathOf('scenarios', name, verb)))
  return (
    <div class="buttons" onClick={(event) => event.stopPropagation()}>
      <SmallButton
        label={running ? 'Restart' : 'Start'}
        disabled={busy}
        aria-label={`${running ? 'Restart' : 'Start'} ${name}`}
        onClick={() => put('start')}
      />
      {running && <SmallButton label="Stop" disabled={busy} aria-label={`Stop ${name}`} onClick={() => put('stop')} />}
      <Problem error={error} />
    </div>
  )
}

function Rules({ name, rules }: Readonly<{ name: string; rules: Scenario['rules'] }>) {
  return (
    <Table
      label="Rules of the open scenario"
      heads={['Rule', ['At', 'quiet'], 'What it does', ['Matched', 'number'], ['Fired', 'number']]}
      rows={rules.map((rule) => [
        rule.name,
        wordsOf(rule.at),
        rule.sentence,
        rule.matched,
        <>
          {rule.hits === 0 && rule.shadowed_by.length > 0 ? firedText(name, rule) : rule.hits}
          {rule.must_fire && rule.hits === 0 && <span class="quiet"> must fire</span>}
        </>,
      ])}
    />
  )
}

function ScenarioDetail({ name }: Readonly<{ name: string }>) {
  const isNew = name === NEW_SCENARIO
  const { parameters } = route.value
  const { value, error } = useApi<Schemas['ScenarioWithDocument']>(isNew ? null : pathOf('scenarios', name))
  const scenario = value?.scenario
  const text = isNew ? STARTER : value?.document
  const title = isNew ? 'New scenario' : name
  return (
    <Detail
      label="Scenario"
      name={title}
      close={() => go('scenarios', '', parameters)}
      title={
        <>
          <h2>{title}</h2>
          {scenario && <StateTag scenario={scenario} />}
        </>
      }
    >
      {error?.status !== 404 && text !== undefined ? (
        <div class="detail-body">
          {scenario && (
            <Section title="Rules">
              <Rules name={scenario.name} rules={scenario.rules} />
            </Section>
          )}
          <Section title="Document">
            {text !== null ? (
              <OnDemand>{({ Editor }) => <Editor of={name} text={text} />}</OnDemand>
            ) : (
              <p class="quiet">An earlier version of toolmock stored this scenario without the text of its document.</p>
            )}
          </Section>
        </div>
      ) : (
        <Loading error={error} gone="There is no such scenario." />
      )}
    </Detail>
  )
}
