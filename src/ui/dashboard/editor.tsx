import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { plural } from '../../model/domain/text.ts'
import { notice } from './actions.ts'
import { call, change, pathOf, type Schemas, useDelayed } from './api.ts'
import { Button, SmallButton } from './controls.tsx'
import { environment, go, NEW } from './hash-route.ts'
import { coloured } from './highlight.ts'

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
export function Editor({ of, text: initialText }: Readonly<{ of: string; text: string }>) {
  const id = useId()
  const draft = draftOf(of)
  const [text, setText] = useState(draft.read() ?? initialText)
  const isUnsaved = text !== initialText
  const write = (next: string): void => {
    setText(next)
    draft.keep(next === initialText ? undefined : next)
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
  const area = useRef<HTMLTextAreaElement>(null)
  const parts = useMemo(() => coloured(text), [text])
  const check = (signal: AbortSignal): void =>
    void call<Schemas['Validation']>('POST', '/validate', { body: text, signal }).then(
      ({ kind, problems: found }) => setProblems(kind === 'scenario' ? found : [...found, ...notScenario(kind, found)]),
      () => undefined,
    )
  useDelayed(check, CHECK_DELAY_MS, [text])
  const name = /^name:\s*["']?([A-Za-z0-9._-]+)/m.exec(text)?.[1] ?? /"name"\s*:\s*"([^"]+)"/.exec(text)?.[1] ?? ''
  const save = async (start: boolean): Promise<void> => {
    const path = pathOf('scenarios', name)
    await change('PUT', path, { body: text })
    draft.keep(undefined)
    if (start) await change('POST', `${path}/start`)
    go('scenarios', name)
  }
  const lines = text.split('\n')
  const wrong = new Set(problems?.map(({ line }) => line))
  const usable = problems?.length === 0 && name !== ''
  return (
    <div class="column">
      <label class="visually-hidden" for={id}>
        The scenario as YAML
      </label>
      <div class="code editor-text">
        <div class="gutter mono quiet" aria-hidden="true">
          {lines.map((_, index) => (
            <div key={index} class={wrong.has(index + 1) ? 'wrong' : ''}>
              {index + 1}
            </div>
          ))}
        </div>
        <pre class="colours mono" aria-hidden="true">
          {parts.map((part, index) => (
            <span key={index} class={part.class}>
              {part.text}
            </span>
          ))}
        </pre>
        <textarea
          id={id}
          ref={area}
          class="mono"
          spellcheck={false}
          wrap="off"
          value={text}
          aria-invalid={problems !== undefined && problems.length > 0}
          aria-describedby={`${id}-problems`}
          onInput={(event) => write(event.currentTarget.value)}
        />
      </div>
      <ul id={`${id}-problems`} class="column items problems" aria-live="polite">
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
        <Button label="Save and start" class="primary" disabled={!usable} act={() => save(true)} />
        <Button label="Save" disabled={!usable} act={() => save(false)} />
        {isUnsaved && (
          <>
            <span class="quiet" role="status">
              Not saved: kept as a draft in this tab.
            </span>
            <Button label="Discard the draft" class="link" onClick={() => write(initialText)} />
          </>
        )}
      </div>
    </div>
  )
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
          {meant !== undefined && <SmallButton label={`Write ${meant}`} onClick={() => replace(meant)} />}
          <details>
            <summary class="quiet">{plural(values.length, 'allowed value')}</summary>
            <div class="buttons">
              {values.map((value) => (
                <SmallButton key={value} label={value} onClick={() => replace(value)} />
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
