import { signal } from '@preact/signals'
import { browserJson } from '../../model/domain/json.ts'
import { plural } from '../../model/domain/text.ts'
import { perform } from './actions.ts'
import { ApiError, type Request } from './api.ts'
import { Empty, Status, Tag } from './content.tsx'
import { chooseFile, Field } from './controls.tsx'
import { titleOf } from './entry.ts'
import { ALL, environment, linkTo, route, setParameters } from './hash-route.ts'
import { type Columns, ListView } from './list-view.tsx'
import { environmentOptions, requestsIn } from './live.ts'

/** Two runs by their tests: only requests whose answers differ, or that one of the runs does not have. */
export function RunsView() {
  const { before = '', after = environment.value } = route.value.parameters
  const { value: runs } = loaded
  const changes = runs.before && runs.after && runChanges(runs.before, runs.after)
  const failures = changes?.filter(({ change }) => change === 'fails now').length ?? 0
  return (
    <ListView
      view="runs"
      noun="change"
      rows={changes ?? []}
      idOf={({ key }) => key}
      textOf={({ test, title, change }) => `${test} ${title} ${change}`}
      hrefOf={({ after: request }) =>
        request && after !== SAVED ? linkTo('timeline', request.id, { in: request.environment }) : undefined
      }
      note={changes && `${plural(changes.length, 'change')}, ${plural(failures, 'new failure')}`}
      columns={COLUMNS}
      controls={(['before', 'after'] as const).map((side) => (
        <Field
          key={side}
          label={`The run ${side}`}
          value={side === 'before' ? before : runs.after ? after : ''}
          options={[['', `the run ${side}`], [ALL, 'all environments'], ...environmentOptions(), [SAVED, `${SAVED} …`]]}
          onInput={(source) => choose(side, source)}
        />
      ))}
      empty={
        changes ? (
          <Empty title="Both runs have the same answers." />
        ) : (
          <Empty title="Choose the run before and the run after." command="npx toolmock logs --json > run.jsonl">
            <p>A run is an environment, all of them, or a journal that was saved with:</p>
          </Empty>
        )
      }
    />
  )
}

/** The value of a choice for a saved journal. A space is not allowed in the name of an environment. */
const SAVED = 'a saved journal'

/** The runs that were chosen; they stay as they were read. */
const loaded = signal<{ readonly before?: readonly Request[]; readonly after?: readonly Request[] }>({})

function choose(side: 'before' | 'after', source: string): void {
  const keep = (requests: readonly Request[]): void => {
    loaded.value = { ...loaded.value, [side]: requests.filter(({ kind }) => kind === 'request') }
    setParameters({ [side]: source })
  }
  if (source === SAVED) chooseFile('.json,.jsonl,.txt', async (file) => keep(entriesOf(await file.text())))
  else
    void perform(async () => {
      const answers = await requestsIn(source, { kind: 'request' })
      keep(answers.flatMap(({ requests }) => requests))
    })
}

/** @throws ApiError for a file that is none of `logs --json` */
function entriesOf(text: string): Request[] {
  try {
    return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [browserJson(line) as unknown as Request]))
  } catch {
    throw new ApiError(0, 'The file is no journal: `toolmock logs --json` writes one entry a line.')
  }
}

interface Change {
  readonly key: string
  readonly test: string
  readonly title: string
  readonly change: keyof typeof CHANGES
  readonly before: Request | undefined
  readonly after: Request | undefined
}

/** What can have become of a request, the worst first, with its tone. */
const CHANGES = {
  'fails now': 'error',
  gone: 'warning',
  'other answer': 'info',
  new: 'info',
  'succeeds now': 'success',
}
const ORDER = Object.keys(CHANGES)

const COLUMNS: Columns<Change> = [
  { title: 'Request', value: ({ title }) => title, cell: ({ test }) => test !== '' && <p class="quiet">{test}</p> },
  { title: 'Before', width: 72, cell: ({ before }) => before && <Status status={before.status} /> },
  { title: 'After', width: 72, cell: ({ after }) => after && <Status status={after.status} /> },
  { title: 'Error', width: 200, class: 'mono roomy', cell: ({ after }) => after?.error_code },
  {
    title: 'Change',
    width: 128,
    value: ({ change }) => ORDER.indexOf(change),
    cell: ({ change }) => <Tag tone={CHANGES[change]}>{change}</Tag>,
  },
]

/** A request is the same as another one when it is the same in its test: the second `list_connected_accounts`, for example. */
function runChanges(before: readonly Request[], after: readonly Request[]): Change[] {
  const [earlier, later] = [byPlace(before), byPlace(after)]
  const changes = [...new Set([...earlier.keys(), ...later.keys()])].flatMap((key): Change[] => {
    const [one, other] = [earlier.get(key), later.get(key)]
    const [test = '', title = ''] = key.split('\n')
    const change = changeOf(one, other)
    return change ? [{ key, test, title, change, before: one, after: other }] : []
  })
  return changes.sort((a, b) => ORDER.indexOf(a.change) - ORDER.indexOf(b.change))
}

function byPlace(requests: readonly Request[]): Map<string, Request> {
  const counts = new Map<string, number>()
  return new Map(
    requests.map((request) => {
      const place = `${request.test?.name ?? ''}\n${titleOf(request)}`
      const count = (counts.get(place) ?? 0) + 1
      counts.set(place, count)
      return [count === 1 ? place : `${place} (${count})`, request]
    }),
  )
}

function changeOf(one: Request | undefined, other: Request | undefined): Change['change'] | undefined {
  if (!other) return 'gone'
  const [failed, fails] = [one, other].map((request) => request && (request.status === 0 || request.status >= 400))
  if (fails && !failed) return 'fails now'
  if (!one) return 'new'
  if (failed && !fails) return 'succeeds now'
  return one.status === other.status && one.error_code === other.error_code ? undefined : 'other answer'
}
