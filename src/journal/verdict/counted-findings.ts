import type { Finding } from '../../model/domain/finding.ts'
import { instant } from '../../model/domain/instant.ts'
import { isJsonObject, type JsonObject, jsonText, type JsonValue } from '../../model/domain/json.ts'
import { maskAt, maskParameters } from '../../model/domain/masking.ts'
import type { TestLabel } from '../../model/domain/test-label.ts'
import { shorten } from '../../model/domain/text.ts'
import { ownValue } from '../../model/domain/value-match.ts'
import type { StoredEntry } from '../request-journal/entry.ts'
import { MAX_PATH } from '../request-journal/findings.ts'
import { recordedBody, entryPath, entryQuery, requestText } from '../request-journal/view.ts'
import type { FindingSource } from './report-types.ts'

type FindingRequest = FindingSource['examples'][number]

/** A finding with what leads back to it: a mistake in a loop of a client is one finding. */
export interface CountedFinding {
  readonly finding: Finding
  count: number
  readonly requests: FindingRequest[]
  /** The tests that had it, by file and name. */
  readonly tests: Map<string, TestLabel>
}

/** How many different findings of one code an environment keeps, and how many requests each of them names. */
const MAX_FINDINGS = 1000
const MAX_REQUESTS = 20

export class CountedFindings {
  readonly #keyOf: (finding: Finding) => string
  readonly #byKey = new Map<string, CountedFinding>()
  readonly #ofCode = new Map<string, number>()
  leftOut = 0

  constructor(keyOf: (finding: Finding) => string = findingKey) {
    this.#keyOf = keyOf
  }

  addEntry(entry: StoredEntry): void {
    for (const finding of entry.findings) this.add(finding, entry)
  }

  add(finding: Finding, entry: FoundIn): void {
    const counted = this.#countedFinding(finding)
    if (!counted) return
    counted.count += 1
    if (counted.requests.length < MAX_REQUESTS) counted.requests.push(findingRequest(finding.field, entry))
    if (entry.test) counted.tests.set(testKey(entry.test), entry.test)
  }

  merge(others: CountedFindings): void {
    this.leftOut += others.leftOut
    for (const { finding, count, requests, tests } of others.list()) {
      const counted = this.#countedFinding(finding)
      if (!counted) continue
      counted.count += count
      counted.requests.push(...requests.slice(0, MAX_REQUESTS - counted.requests.length))
      for (const [key, test] of tests) counted.tests.set(key, test)
    }
  }

  /** In the order in which they were first found. */
  list(): Iterable<CountedFinding> {
    return this.#byKey.values()
  }

  #countedFinding(finding: Finding): CountedFinding | undefined {
    const key = this.#keyOf(finding)
    const earlier = this.#byKey.get(key)
    if (earlier) return earlier
    const ofCode = this.#ofCode.get(finding.code) ?? 0
    if (ofCode === MAX_FINDINGS) {
      this.leftOut += 1
      return undefined
    }
    this.#ofCode.set(finding.code, ofCode + 1)
    const counted = { finding, count: 0, requests: [], tests: new Map<string, TestLabel>() }
    this.#byKey.set(key, counted)
    return counted
  }
}

export type FoundIn = Pick<StoredEntry, 'id' | 'environment' | 'method' | 'url' | 'at' | 'requestBody' | 'test'>

/** So much of an entry, for a finding that is made later. */
export function foundIn({ id, environment, method, url, at, requestBody, test }: FoundIn): FoundIn {
  return { id, environment, method, url, at, requestBody, test }
}

function testKey({ label, file = '' }: TestLabel): string {
  return `${file}\n${label}`
}

const MAX_EXCERPT = 160

function findingRequest(place: string, entry: FoundIn): FindingRequest {
  const { id, environment, method, at } = entry
  return {
    id,
    environment,
    method,
    path: shorten(entryPath(entry), MAX_PATH),
    at: instant(at),
    excerpt: excerptOf(place, entry),
  }
}

/** A query parameter with its value, or the object of the body that the place is in; the place itself comes first. */
function excerptOf(place: string, entry: FoundIn): string {
  const { [place]: value } = maskParameters(new URLSearchParams(entryQuery(entry)))
  if (value !== undefined) return shorten(`?${place}=${[value].flat().join(`&${place}=`)}`, MAX_EXCERPT)
  const body = sentObject(requestText(entry))
  if (!body) return ''
  const names = place.split(/[.[\]]+/).filter((name) => name !== '')
  const last = names.pop() ?? ''
  let [around, inside]: [JsonObject, number] = [body, 0]
  let at: JsonValue | undefined = body
  for (const [index, name] of names.entries()) {
    at = ownValue(at, name)
    if (isJsonObject(at)) [around, inside] = [at, index + 1]
  }
  const first = Object.hasOwn(around, last) ? { [last]: around[last] ?? null, ...around } : around
  const way = names.slice(0, inside)
  const parent = way.length === 0 ? '' : `${way.join('.')}: `
  return shorten(`${parent}${jsonText(maskAt(way, first))}`, MAX_EXCERPT)
}

/** The object of a JSON body, or the fields of a form. */
function sentObject(text: string): JsonObject | undefined {
  const json = recordedBody(text)
  if (isJsonObject(json)) return json
  return /^[\w.~%+*-]+=/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined
}

/** Equal for the same rule at the same field, for every value that was sent, and for all items of a list. */
export function findingKey({ operation, field, code, error_code }: Finding): string {
  return [operation, field.replace(/\[\d+\]/g, '[]'), code, error_code].join('\n')
}
