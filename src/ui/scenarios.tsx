import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { plural } from '../domain/text.ts'
import { call, type Scenario, type Schemas } from './api.ts'
import type * as Highlighter from './highlight.ts'
import { Button, Detail, Loading, Problem, Section, Small, Table, Tag } from './parts.tsx'
import { environment, go, linkTo, route } from './hash-route.ts'
import { notice } from './notice.tsx'
import { inEnvironment, pathOf, useAction, useApi } from './use-api.ts'
import { useListNavigation } from './keyboard.ts'

/** The id in the URL for a scenario that is not saved yet. A space is not allowed in the name of a scenario. */
const NEW = 'new scenario'

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
  const { value, error, reload } = useApi<Schemas['Scenarios']>('/scenarios')
  const scenarios = [...(value?.scenarios ?? [])].sort((a, b) => rank(a) - rank(b))
  useListNavigation(scenarios.length, () => go('scenarios'))
  return (
    <div class={`split ${id === '' ? '' : 'opened'}`}>
      <div class="list-side">
        <div class="controls">
          <a class="button small" href={linkTo('scenarios', NEW)}>
            New scenario
          </a>
          <span class="space" />
          <span class="quiet count">
            {scenarios.filter(({ running, spent }) => running && !spent).length} of {scenarios.length} running
          </span>
        </div>
        <Problem error={error} />
        <div class="scroll" tabIndex={0} role="region" aria-label="Scenarios">
          <ul class="scenarios">
            {scenarios.map((scenario, row) => (
              <ScenarioLine
                key={scenario.name}
                scenario={scenario}
                row={row}
                isOpen={scenario.name === id}
                changed={reload}
              />
            ))}
          </ul>
        </div>
      </div>
      {id !== '' && <ScenarioDetail key={id} name={id} changed={reload} />}
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

function ScenarioLine({
  scenario,
  row,
  isOpen,
  changed,
}: Readonly<{ scenario: Scenario; row: number; isOpen: boolean; changed: () => void }>) {
  const { name, description, started, rules } = scenario
  return (
    <li class={isOpen ? 'open' : ''}>
      <div class="row wrap scenario-head">
        <a href={linkTo('scenarios', name)} data-row={row} aria-current={isOpen ? 'true' : undefined}>
          {name}
        </a>
        <StateTag scenario={scenario} />
        <span class="space" />
        <StartStop scenario={scenario} changed={changed} />
      </div>
      <p class="quiet">{description}</p>
      {started && <Rules of={name} rules={rules} />}
    </li>
  )
}

function StartStop({
  scenario: { name, running },
  changed,
}: Readonly<{
  scenario: Scenario
  changed: () => void
}>) {
  const { busy, error, send } = useAction()
  const put = (verb: 'start' | 'stop'): void => send('POST', pathOf('scenarios', name, verb), {}, changed)
  return (
    <>
      <Small
        label={running ? 'Restart' : 'Start'}
        disabled={busy}
        aria-label={`${running ? 'Restart' : 'Start'} ${name}`}
        onClick={() => put('start')}
      />
      {running && <Small label="Stop" disabled={busy} aria-label={`Stop ${name}`} onClick={() => put('stop')} />}
      <Problem error={error} />
    </>
  )
}

function Rules({ of, rules }: Readonly<{ of: string; rules: Scenario['rules'] }>) {
  return (
    <Table
      label={`Rules of ${of}`}
      class="rules"
      heads={['Rule', ['At', 'quiet'], 'What it does', ['Matched', 'number right'], ['Fired', 'number right']]}
      rows={rules.map(({ name, at, sentence, matched, hits, must_fire }) => [
        name,
        at.replaceAll('_', ' '),
        sentence,
        matched,
        <>
          {hits}
          {must_fire && hits === 0 && <span class="quiet"> must fire</span>}
        </>,
      ])}
    />
  )
}

function ScenarioDetail({ name, changed }: Readonly<{ name: string; changed: () => void }>) {
  const isNew = name === NEW
  const { value, error } = useApi<Schemas['ScenarioWithDocument']>(isNew ? null : pathOf('scenarios', name))
  const scenario = value?.scenario
  return (
    <Detail
      label="Scenario"
      name={isNew ? 'New scenario' : name}
      close={() => go('scenarios')}
      title={
        <>
          <h2>{isNew ? 'New scenario' : name}</h2>
          {scenario && <StateTag scenario={scenario} />}
        </>
      }
    >
      {error?.status !== 404 && (isNew || value) ? (
        <div class="detail-body">
          {scenario && (
            <Section title="Rules">
              <Rules of="the open scenario" rules={scenario.rules} />
            </Section>
          )}
          <Section title="Document">
            {isNew || value?.document !== null ? (
              <Editor
                key={isNew ? NEW : name}
                of={name}
                text={isNew ? STARTER : (value?.document ?? '')}
                changed={changed}
              />
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

/** The text of a scenario that is not saved. It is kept until the tab is closed. */
function draftOf(name: string) {
  const key = `toolmock-draft ${environment.value} ${name}`
  return {
    read: () => sessionStorage.getItem(key) ?? undefined,
    keep: (text: string | undefined): void => {
      if (text === undefined) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, text)
    },
  }
}

type DocumentProblem = Schemas['DocumentProblem']

/** The server checks the text when the user has not typed for this long. */
const CHECK_DELAY_MS = 250

/** A text field with line numbers. The server checks the text; lines with a problem are marked and the problems listed below. */
function Editor({ of, text: given, changed }: Readonly<{ of: string; text: string; changed: () => void }>) {
  const id = useId()
  const draft = draftOf(of)
  const [text, setText] = useState(draft.read() ?? given)
  const isUnsaved = text !== given
  const write = (next: string): void => {
    setText(next)
    draft.keep(next === given ? undefined : next)
  }
  useEffect(() => {
    const hash = location.hash
    return () => {
      if (draft.read() === undefined) return
      notice.value = {
        text: `The text of ${of === NEW ? 'the new scenario' : of} is not saved. It is kept as a draft.`,
        actions: [
          ['Go back to it', () => (location.hash = hash)],
          ['Discard it', () => draft.keep(undefined)],
        ],
      }
    }
  }, [])
  const [problems, setProblems] = useState<readonly DocumentProblem[] | undefined>(undefined)
  const { busy, error, run } = useAction()
  const area = useRef<HTMLTextAreaElement>(null)
  const colours = useRef<HTMLPreElement>(null)
  const parts = useColours(text)
  const gutter = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => {
      void call<Schemas['Validation']>('POST', '/validate', {
        query: inEnvironment(),
        document: text,
        signal: stop.signal,
      }).then(
        ({ kind, problems: found }) =>
          setProblems(kind === 'scenario' ? found : [...found, ...notScenario(kind, found)]),
        () => undefined,
      )
    }, CHECK_DELAY_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [text])
  const name = /^name:\s*["']?([A-Za-z0-9._-]+)/m.exec(text)?.[1] ?? /"name"\s*:\s*"([^"]+)"/.exec(text)?.[1] ?? ''
  const save = (start: boolean): void =>
    run(async () => {
      const path = pathOf('scenarios', name)
      await call('PUT', path, { query: inEnvironment(), document: text })
      draft.keep(undefined)
      if (start) await call('POST', `${path}/start`, { query: inEnvironment() })
      changed()
      go('scenarios', name)
    })
  const lines = text.split('\n')
  const wrong = new Set(problems?.map(({ line }) => line))
  const usable = problems?.length === 0 && name !== '' && !busy
  return (
    <div class="column editor">
      <label class="visually-hidden" for={id}>
        The scenario as YAML
      </label>
      <div class="editor-text">
        <div class="gutter mono" ref={gutter} aria-hidden="true">
          {lines.map((_, index) => (
            <div key={index} class={wrong.has(index + 1) ? 'wrong' : ''}>
              {index + 1}
            </div>
          ))}
        </div>
        <div class="editor-area">
          {parts && (
            <pre class="colours mono" ref={colours} aria-hidden="true">
              {parts.map((part, index) => (
                <span key={index} class={part.class}>
                  {part.text}
                </span>
              ))}
            </pre>
          )}
          <textarea
            id={id}
            ref={area}
            class={`mono ${parts ? 'coloured' : ''}`}
            spellcheck={false}
            wrap="off"
            rows={Math.max(12, Math.min(32, lines.length + 1))}
            value={text}
            aria-invalid={problems !== undefined && problems.length > 0}
            aria-describedby={`${id}-problems`}
            onInput={(event) => write(event.currentTarget.value)}
            onScroll={(event) => {
              const { scrollTop, scrollLeft } = event.currentTarget
              gutter.current?.scrollTo(0, scrollTop)
              colours.current?.scrollTo(scrollLeft, scrollTop)
            }}
          />
        </div>
      </div>
      <ul id={`${id}-problems`} class="plain problems" aria-live="polite">
        {problems?.map((problem) => (
          <ProblemLine
            key={problem.message}
            problem={problem}
            select={() => select(area.current, problem)}
            replace={(value) => write(replaced(text, problem, value))}
          />
        ))}
        {problems?.length === 0 && <li class="quiet">No problem found.</li>}
      </ul>
      <div class="buttons">
        <Button label="Save and start" class="primary" disabled={!usable} onClick={() => save(true)} />
        <Button label="Save" disabled={!usable} onClick={() => save(false)} />
        {isUnsaved && (
          <>
            <span class="quiet" role="status">
              Not saved: kept as a draft in this tab.
            </span>
            <Button label="Discard the draft" class="link" onClick={() => write(given)} />
          </>
        )}
      </div>
      <Problem error={error} />
    </div>
  )
}

/** The text with its colours; undefined until the highlighter is loaded, and without one when it cannot be. */
function useColours(text: string): readonly Highlighter.ColouredPart[] | undefined {
  const [highlighter, setHighlighter] = useState<typeof Highlighter | undefined>(undefined)
  useEffect(() => {
    import('./highlight.ts').then(setHighlighter, () => undefined)
  }, [])
  return useMemo(() => highlighter?.coloured(text), [highlighter, text])
}

/** A problem with the word that was probably meant; the other allowed values are behind it. A click on a value writes it. */
function ProblemLine({
  problem: { line, path, found, allowed, message },
  select: goThere,
  replace,
}: Readonly<{ problem: DocumentProblem; select: () => void; replace: (value: string) => void }>) {
  const meant = /\(did you mean (.+)\?\)$/.exec(found)?.[1]
  const values = allowed.split(', ')
  const areWords = values.length > 1 && values.every((value) => /^[\w.-]+$/.test(value))
  return (
    <li>
      <Button label={`Line ${line}`} class="link" onClick={goThere} />{' '}
      {areWords ? (
        <>
          <code>{path}</code> is {found.replace(/ \(did you mean .+\)$/, '')}{' '}
          {meant !== undefined && <Small label={`Write ${meant}`} onClick={() => replace(meant)} />}
          <details>
            <summary class="quiet">{plural(values.length, 'allowed value')}</summary>
            <div class="buttons">
              {values.map((value) => (
                <Small key={value} label={value} onClick={() => replace(value)} />
              ))}
            </div>
          </details>
        </>
      ) : (
        message.replace(/^body:\d+:\d+: /, '')
      )}
    </li>
  )
}

/** The text with the word of a problem replaced. */
function replaced(text: string, problem: DocumentProblem, value: string): string {
  const at = offsetOf(text, problem)
  return text.slice(0, at) + text.slice(at).replace(/^(["']?)[^\s,:[\]{}"']*/, (_word, quote: string) => quote + value)
}

/** A problem for a valid document that is not a scenario. */
function notScenario(kind: string, found: readonly DocumentProblem[]): DocumentProblem[] {
  if (found.length > 0) return []
  const message = `this is a ${kind}; a scenario has name and rules`
  return [{ line: 1, column: 1, path: '', found: kind, allowed: 'a scenario', message }]
}

function select(area: HTMLTextAreaElement | null, problem: DocumentProblem): void {
  if (!area) return
  const at = offsetOf(area.value, problem)
  area.focus()
  area.setSelectionRange(at, at)
}

function offsetOf(text: string, { line, column }: DocumentProblem): number {
  const before = text.split('\n').slice(0, line - 1)
  return before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1
}
