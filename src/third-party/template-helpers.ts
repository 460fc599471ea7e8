import type { JsonValue } from '../domain/json.ts'
import type { Clock, Ids } from '../domain/ports.ts'
import { instant } from '../domain/instant.ts'
import type { FakeData } from './fake-data.ts'

/** What helpers may use besides their arguments. */
export interface HelperPorts {
  readonly clock: Clock
  readonly ids: Ids
  /** Absent until a template that asks for it was prepared. */
  readonly fakeData: FakeData | undefined
}

export type HelperArguments = readonly (JsonValue | undefined)[]

interface Helper {
  /** The least and the greatest number of arguments. */
  readonly arity: readonly [number, number]
  run(args: HelperArguments, ports: HelperPorts): JsonValue | undefined
}

/** Every helper that a template may call; nothing else can be called. */
export const HELPERS = {
  id: { arity: [0, 0], run: (_args, { ids }) => shortId(ids) },
  uuid: { arity: [0, 0], run: (_args, { ids }) => uuid(ids) },
  now: { arity: [0, 0], run: (_args, { clock }) => instant(clock.now()) },
  json: { arity: [1, 1], run: ([value]) => JSON.stringify(value ?? null) },
  default: { arity: [2, 2], run: ([value, fallback]) => (isBlank(value) ? fallback : value) },
  eq: { arity: [2, 2], run: ([a, b]) => (a ?? null) === (b ?? null) },
  basic: {
    arity: [2, 2],
    run: ([username, password]) =>
      isBlank(username) && isBlank(password) ? undefined : basic(asText(username), asText(password)),
  },
  faker: { arity: [1, Infinity], run: fake },
} as const satisfies Record<string, Helper>
export type HelperName = keyof typeof HELPERS

export function isHelper(name: string): name is HelperName {
  return Object.hasOwn(HELPERS, name)
}

export function runHelper(name: HelperName, args: HelperArguments, ports: HelperPorts): JsonValue | undefined {
  const helper: Helper = HELPERS[name]
  return helper.run(args, ports)
}

/** A value inside a longer text: nothing for a missing one, JSON for arrays and objects. */
export function asText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The value of an `Authorization` header of HTTP Basic (RFC 7617). */
function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** An id without its prefix: templates write their own (`msg_{{id}}`). */
function shortId(ids: Ids): string {
  const id = ids.id('x')
  return id.slice(id.lastIndexOf('_') + 1)
}

function uuid(ids: Ids): string {
  const hex = [0, 1, 2, 3].map(() => ids.number().toString(16).padStart(8, '0')).join('')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

function fake([name, ...args]: HelperArguments, ports: HelperPorts): JsonValue {
  if (typeof name !== 'string') throw new Error("faker: the first argument is a name, such as 'person.fullName'")
  if (!ports.fakeData) throw new Error(`faker '${name}': generated data is not available here`)
  return ports.fakeData.generate(
    name,
    args.map((arg) => arg ?? null),
    ports,
  )
}
