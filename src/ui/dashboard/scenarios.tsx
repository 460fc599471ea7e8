import { firedText } from '../../model/domain/scenario.ts'
import type { Scenario, Schemas } from './api.ts'
import { wordsOf } from './format.ts'
import { change } from './live.ts'
import { Table, Tag } from './content.tsx'
import { SmallButton } from './controls.tsx'
import { Detail, Loading, Problem, Section } from './layout.tsx'
import { go, linkTo, NEW_SCENARIO, route } from './hash-route.ts'
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
  const { id } = route.value
  const { value, error } = useApi<Schemas['Scenarios']>('/scenarios')
  const scenarios = [...(value?.scenarios ?? [])].sort((a, b) => rank(a) - rank(b))
  useListNavigation(scenarios.length, () => go('scenarios'))
  return (
    <div class="split">
      <div class="column list-side">
        <div class="buttons controls">
          <a class="button small" href={linkTo('scenarios', NEW_SCENARIO)}>
            New scenario
          </a>
          <span class="space" />
          <small>
            {scenarios.filter(({ running, spent }) => running && !spent).length} of {scenarios.length} running
          </small>
        </div>
        <Problem error={error} />
        <div class="scroll" tabIndex={0} role="region" aria-label="Scenarios">
          <ul class="scenarios">
            {scenarios.map((scenario, row) => (
              <ScenarioLine key={scenario.name} scenario={scenario} row={row} isOpen={scenario.name === id} />
            ))}
          </ul>
        </div>
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

function ScenarioLine({ scenario, row, isOpen }: Readonly<{ scenario: Scenario; row: number; isOpen: boolean }>) {
  const { name, description, started, rules } = scenario
  return (
    <li class={isOpen ? 'open' : ''}>
      <div class="row wrap">
        <a href={linkTo('scenarios', name)} data-row={row} aria-current={isOpen ? 'true' : undefined}>
          <strong>{name}</strong>
        </a>
        <StateTag scenario={scenario} />
        <span class="space" />
        <StartStop scenario={scenario} />
      </div>
      <p class="quiet">{description}</p>
      {started && <Rules of={name} name={name} rules={rules} />}
    </li>
  )
}

function StartStop({ scenario: { name, running } }: Readonly<{ scenario: Scenario }>) {
  const { busy, error, run } = useAction()
  const put = (verb: 'start' | 'stop'): void => run(() => change('POST', pathOf('scenarios', name, verb)))
  return (
    <>
      <SmallButton
        label={running ? 'Restart' : 'Start'}
        disabled={busy}
        aria-label={`${running ? 'Restart' : 'Start'} ${name}`}
        onClick={() => put('start')}
      />
      {running && <SmallButton label="Stop" disabled={busy} aria-label={`Stop ${name}`} onClick={() => put('stop')} />}
      <Problem error={error} />
    </>
  )
}

function Rules({ of, name, rules }: Readonly<{ of: string; name: string; rules: Scenario['rules'] }>) {
  return (
    <Table
      label={`Rules of ${of}`}
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
  const { value, error } = useApi<Schemas['ScenarioWithDocument']>(isNew ? null : pathOf('scenarios', name))
  const scenario = value?.scenario
  const text = isNew ? STARTER : value?.document
  const title = isNew ? 'New scenario' : name
  return (
    <Detail
      label="Scenario"
      name={title}
      close={() => go('scenarios')}
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
              <Rules of="the open scenario" name={scenario.name} rules={scenario.rules} />
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
