import type { App } from '../app.ts'

/** The requests of a case as lines that two equal runs have in common: without real time, durations and ports. */
export function transcriptOf({ journals, defaultEnvironment }: App['services']): string[] {
  const environment = defaultEnvironment()
  return journals
    .of(environment ?? journals)
    .query({ limit: Infinity })
    .flatMap((entry, at) => {
      const {
        id,
        kind,
        real_at: _at,
        duration_ms: _duration,
        upstream,
        method,
        path,
        request,
        response,
        // Two equal cases have different names.
        test: _test,
        ...others
      } = entry
      const members = {
        // Ids of what is no request are random.
        ...(kind !== 'clock' && kind !== 'control' && { id }),
        ...others,
        // The body first: its length is in the headers.
        request_body: request.body,
        request_headers: request.headers,
        response_body: response.body,
        response_headers: response.headers,
        upstream: upstream.map(({ ms: _ms, ...call }) => call),
      }
      return Object.entries(members).flatMap(([name, value]: [string, unknown]) =>
        value === null || (Array.isArray(value) && value.length === 0)
          ? []
          : [`request ${at + 1}, ${method} ${path}: ${name}${VALUE}${JSON.stringify(value)}`.replaceAll(PORT, '$1')],
      )
    })
}

const PORT = /(127\.0\.0\.1|localhost|\[::1\])(?::|%3A)\d+/g

/** What is between the name of a part of a request and its value. */
const VALUE = ' = '

/** Characters before and after the place where two lines differ. */
const [BEFORE, AFTER] = [40, 80]

/** The first line in which two transcripts differ, and both of it around the difference; undefined when they are equal. */
export function firstDifference(one: readonly string[], another: readonly string[]) {
  const at = Array.from({ length: Math.max(one.length, another.length) }).findIndex(
    (_, line) => one[line] !== another[line],
  )
  if (at === -1) return undefined
  const [a, b] = [one[at] ?? '', another[at] ?? '']
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const around = (text: string | undefined): string => {
    if (text === undefined) return 'nothing: it has ended'
    const [from, to] = [Math.max(0, same - BEFORE), same + AFTER]
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
  }
  const [about = ''] = (one[at] ?? b).split(VALUE)
  return { about, one: around(one[at]), other: around(another[at]) }
}
