import { firedText } from '../../model/domain/scenario.ts'
import { change, type ListedScenario, pathOf, type Schemas, useApi } from './api.ts'
import { RowTable, Section, Tag } from './content.tsx'
import { SmallButton } from './controls.tsx'
import { wordsOf } from './format.ts'
import { NEW } from './hash-route.ts'
import { Detail, ListView } from './list-view.tsx'
import { OnDemand } from './on-demand.tsx'

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
  const { value, error } = useApi<Schemas['Scenarios']>('/scenarios')
  const scenarios = value?.scenarios.toSorted((a, b) => rank(a) - rank(b))
  const running = scenarios?.filter((scenario) => rank(scenario) === 0).length ?? 0
  return (
    <ListView
      view="scenarios"
      noun="scenario"
      rows={scenarios}
      idOf={({ name }) => name}
      textOf={({ name, description }) => `${name} ${description}`}
      note={`${running} of ${scenarios?.length ?? 0} running`}
      error={error}
      columns={[
        {
          title: 'Scenario',
          value: ({ name }) => name,
          cell: ({ description }) => (
            <p class="quiet" title={description}>
              {description}
            </p>
          ),
        },
        { title: 'State', width: 88, cell: (scenario) => <StateTag scenario={scenario} /> },
        {
          title: 'Fired',
          class: 'number roomy',
          width: 72,
          value: firedCount,
          cell: (scenario) => scenario.started && firedCount(scenario),
        },
        { title: 'Actions', width: 136, cell: (scenario) => <StartStop scenario={scenario} /> },
      ]}
      newLabel="New scenario"
      detail={(name) => <ScenarioDetail name={name} />}
    />
  )
}

function firedCount({ rules }: ListedScenario): number {
  return rules.reduce((sum, { hits }) => sum + hits, 0)
}

/** Running scenarios come first, then spent and stopped ones, then those that were never started. */
function rank({ running, spent, started }: ListedScenario): number {
  if (running && !spent) return 0
  return started ? 1 : 2
}

function StateTag({ scenario: { running, spent, started, state } }: Readonly<{ scenario: ListedScenario }>) {
  return (
    <>
      {running && !spent && <Tag tone="success">running</Tag>}
      {spent && <Tag>spent</Tag>}
      {running && state !== null && state !== '' && <Tag tone="info">state {state}</Tag>}
      {!running && started && <Tag>stopped</Tag>}
    </>
  )
}

function StartStop({ scenario: { name, running } }: Readonly<{ scenario: ListedScenario }>) {
  const start = running ? 'Restart' : 'Start'
  const put = (verb: 'start' | 'stop') => change('POST', pathOf('scenarios', name, verb))
  return (
    <div class="buttons">
      <SmallButton label={start} aria-label={`${start} ${name}`} act={() => put('start')} />
      {running && <SmallButton label="Stop" aria-label={`Stop ${name}`} act={() => put('stop')} />}
    </div>
  )
}

function Rules({ name, rules }: Readonly<{ name: string; rules: ListedScenario['rules'] }>) {
  return (
    <RowTable
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
  const isNew = name === NEW
  const { value, error } = useApi<Schemas['ScenarioWithDocument']>(isNew ? null : pathOf('scenarios', name))
  const scenario = value?.scenario
  return (
    <Detail
      label="Scenario"
      name={isNew ? 'New scenario' : name}
      tags={[null, scenario && <StateTag scenario={scenario} />]}
      value={isNew ? STARTER : value?.document}
      error={error}
    >
      {(text) => (
        <>
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
        </>
      )}
    </Detail>
  )
}
