import { type ComponentChildren } from 'preact'
import { isJsonObject, type JsonValue } from '../../model/domain/json.ts'
import { plural, shorten } from '../../model/domain/text.ts'
import { type Explanation, pathOf, type Request, useApi } from './api.ts'
import { PathText, RowTable, Section, Status } from './content.tsx'
import { titleOf } from './entry.ts'
import { momentOf } from './format.ts'
import { inEnvironment, linkTo, route } from './hash-route.ts'
import { Detail } from './list-view.tsx'

/** Two requests side by side: only what differs, and what always does (ids and times) apart. */
export function Comparison({ id, other }: Readonly<{ id: string; other: string }>) {
  const { within = inEnvironment().environment } = route.value.parameters
  const one = useRequest(id)
  const two = useRequest(other, within)
  return (
    <Detail
      label="Comparison"
      heading="Compare two requests"
      value={one.value && two.value && ([one.value, two.value] as const)}
      error={one.error ?? two.error}
    >
      {(sides) => <Sides sides={sides} />}
    </Detail>
  )
}

type ExplainedRequest = Request & Pick<Explanation, 'steps' | 'cause'>

/** A request with its cause and its steps. */
function useRequest(id: string, environment = inEnvironment().environment) {
  const [entry, explanation] = [
    useApi<{ request: Request }>(pathOf('requests', id), { environment }),
    useApi<Explanation>(pathOf('requests', id, 'explain'), { environment }),
  ]
  const [request, explained] = [entry.value?.request, explanation.value]
  const value: ExplainedRequest | undefined = request && explained && { ...request, ...explained }
  return { value, error: entry.error ?? explanation.error }
}

function Sides({ sides: [one, other] }: Readonly<{ sides: readonly [ExplainedRequest, ExplainedRequest] }>) {
  const parts = compared(one, other)
  const apart = parts.flatMap(([, all]) => all.filter(({ isIdentity }) => isIdentity))
  return (
    <>
      <div class="row sides">
        <Side title="This one" request={one} />
        <Side title="The other" request={other} />
      </div>
      {parts.map(([title, all]) => (
        <Differences key={title} title={title} differences={all.filter(({ isIdentity }) => !isIdentity)} />
      ))}
      {apart.length > 0 && <Differences title="Ids and times" differences={apart} open={false} />}
    </>
  )
}

function Side({ title, request }: Readonly<{ title: string; request: ExplainedRequest }>) {
  const isCut = [request.request, request.response].some(({ truncated }) => truncated !== undefined)
  return (
    <div class="column facts">
      <small>{title}</small>
      <span>
        <Status status={request.status} />{' '}
        <a href={linkTo('timeline', request.id, { in: request.environment })}>{titleOf(request)}</a>
      </span>
      <span>{request.cause.map(({ text }) => text)}</span>
      <span class="mono quiet">{momentOf(request.at)}</span>
      {isCut && <span class="expired">Its body was cut: only what is kept of it is compared.</span>}
    </div>
  )
}

function Differences({
  title,
  differences,
  open = true,
}: Readonly<{ title: string; differences: readonly Difference[]; open?: boolean }>) {
  const note = differences.length === 0 ? 'the same' : plural(differences.length, 'difference')
  return (
    <Section title={title} note={note} open={open}>
      {differences.length > 0 && (
        <RowTable
          label={title}
          class="compared"
          heads={['Where', ['This one', 'mono'], ['The other', 'mono']]}
          rows={differences.map(({ where, one, other }) => [<PathText path={where} />, sideText(one), sideText(other)])}
        />
      )}
    </Section>
  )
}

function sideText(value: Difference['one']): ComponentChildren {
  if (value === undefined || value === null) return <span class="quiet">nothing</span>
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), 2000)
}

/** A place in which two requests differ; undefined where one of them has nothing. */
interface Difference {
  readonly where: string
  readonly one: JsonValue | undefined
  readonly other: JsonValue | undefined
  /** Ids and times differ between any two requests. */
  readonly isIdentity: boolean
}

/** The differences of each part, under its title. */
function compared(one: ExplainedRequest, other: ExplainedRequest): [title: string, differences: Difference[]][] {
  const message = (part: 'request' | 'response', sides: readonly [object, object]): Difference[] => {
    const [{ truncated: cutOne }, { truncated: cutOther }] = [one[part], other[part]]
    return leafDifferences('', ...sides).filter(
      ({ where, one: mine, other: theirs }) =>
        !where.startsWith('body') ||
        !((cutOne !== undefined && mine === undefined) || (cutOther !== undefined && theirs === undefined)),
    )
  }
  const ofRequest = ({ method, path, query, client, protocol, request: { headers, body } }: Request): object => {
    return { method, path, query, client, protocol, headers, body }
  }
  const ofResponse = ({ status, error_code, response: { headers, body } }: Request): object => {
    return { status, error_code, headers, body }
  }
  return [
    ['Request', message('request', [ofRequest(one), ofRequest(other)])],
    ['Answer', message('response', [ofResponse(one), ofResponse(other)])],
    ['What happened', steps(one, other)],
  ]
}

/** A list with more elements that differ is folded. */
const MAX_ELEMENTS = 5

function leafDifferences(where: string, one: unknown, other: unknown): Difference[] {
  // A tree beside nothing differs in each of its leaves.
  const trees = [one, other].filter((each) => each !== undefined && each !== null)
  const areLists = trees.every(Array.isArray)
  if (trees.length > 0 && (areLists || trees.every(isJsonObject))) {
    const [a, b] = [one, other].map((each) => new Map(Object.entries(each ?? {}))) as [
      Map<string, unknown>,
      Map<string, unknown>,
    ]
    const members = [...new Set([...a.keys(), ...b.keys()])].map((key) => {
      const place = areLists ? `${where}[${key}]` : where === '' ? key : `${where}.${key}`
      return leafDifferences(place, a.get(key), b.get(key))
    })
    const differing = members.filter((each) => each.length > 0)
    if (!areLists || differing.length <= MAX_ELEMENTS) return differing.flat()
    const more = { where: `${where}: ${differing.length - MAX_ELEMENTS} more elements`, isIdentity: false }
    const [length, otherLength] = [plural(a.size, 'element'), plural(b.size, 'element')]
    return [...differing.slice(0, MAX_ELEMENTS).flat(), { ...more, one: length, other: otherLength }]
  }
  if (Object.is(one, other) || (one ?? null) === (other ?? null)) return []
  const isIdentity = isIdentityPlace.test(where) || (isIdentityValue(one) && isIdentityValue(other))
  return [{ where, one: one as JsonValue, other: other as JsonValue, isIdentity }]
}

/** Headers that differ because the bodies or the ids do. */
const isIdentityPlace = /^headers\.(x-request-id|content-length|date|etag|authorization)$/

/** Generated ids (`req_77lrm3fhyxk5`), UUIDs and times. */
const IDENTITY = /^([a-z]+_[a-z0-9]{12,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/i

function isIdentityValue(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && IDENTITY.test(value))
}

/** The steps of one that the other does not have, beside each other. How long a step took is no difference. */
function steps(one: ExplainedRequest, other: ExplainedRequest): Difference[] {
  const [a, b] = [one, other].map((request) =>
    request.steps.map(({ from, to, text, detail }) => {
      return `${from === to ? from : `${from} → ${to}`}: ${text}${detail === '' ? '' : ` (${detail})`}`
    }),
  ) as [string[], string[]]
  const onlyIn = (list: string[], counterparts: string[]): string[] =>
    list.filter((step) => {
      const at = counterparts.indexOf(step)
      if (at >= 0) counterparts.splice(at, 1)
      return at < 0
    })
  const [mine, theirs] = [onlyIn(a, [...b]), onlyIn(b, [...a])]
  return Array.from({ length: Math.max(mine.length, theirs.length) }, (_, at) => {
    return { where: `difference ${at + 1}`, one: mine[at], other: theirs[at], isIdentity: false }
  })
}
