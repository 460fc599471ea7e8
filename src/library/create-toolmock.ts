import type { App, AppOptions } from '../app/app.ts'
import { BOOLEAN, checkOptions, oneOf, type Rule, TEXT, TEXTS, wholeNumber } from './arguments.ts'
import { ControlClient } from './control-client.ts'
import { ToolmockError } from './toolmock-error.ts'
import { type Toolmock, toolmockOf } from './toolmock.ts'

const LOOPBACK = '127.0.0.1'

/** How `createToolmock` starts a mock; every option may be left out. The flags of `toolmock start` mean the same. */
export interface ToolmockOptions {
  /** A scenario that runs from the start in every environment: the name of a bundled one, or a file. */
  readonly scenario?: string
  /** Several scenarios. */
  readonly scenarios?: readonly string[]
  /** Seed files, folders or `bundled`, one after the other; the bundled seed when absent. */
  readonly seeds?: readonly string[]
  /** Where clocks start, ISO 8601 with a time zone; at the current time when absent. */
  readonly clock?: string | Date
  /** Clocks stand still. */
  readonly freeze?: boolean
  /** Ids, tokens and generated data repeat between runs; random when absent. */
  readonly idSeed?: number
  /** Unknown query parameters and body fields are 400s (G6). */
  readonly strict?: boolean
  /** Serve only what the service's document lists: no Discovery, no proxy, locators with an organization or user (G21). */
  readonly documentedOnly?: boolean
  /** The file that keeps the model; in memory when absent. */
  readonly state?: string
  /** Ignore and replace what the state file holds. */
  readonly fresh?: boolean
  /** `strict` when absent: an answer leaves once what it says is on disk; `relaxed`: at once. */
  readonly durability?: 'strict' | 'relaxed'
  /** Port to serve on; a free one when absent. */
  readonly port?: number
  /** Address to serve on; 127.0.0.1 when absent. */
  readonly host?: string
  /** What links and redirects are built on; from each request's Host when absent. */
  readonly baseUrl?: string
  /** HTTPS (G50): with a temporary certificate authority, whose file is in `env.NODE_EXTRA_CA_CERTS`, or with your own PEM files. */
  readonly tls?: boolean | { readonly cert: string; readonly key: string }
  /** What other callers of the control API must send; the methods of the mock send it themselves. */
  readonly adminToken?: string
  /** Names at which the control API may be called, beside those that are always safe. */
  readonly allowHosts?: readonly string[]
  /** Connectors may name a server that is not on loopback. */
  readonly allowOutbound?: boolean
  /** Reload seeds, connectors and scenarios when their files change. */
  readonly watch?: boolean
  /** Largest request body that is accepted, in bytes; 1 MiB when absent (G7). */
  readonly bodyLimit?: number
  /** How many entries the request journal of an environment keeps; 10,000 when absent. */
  readonly journalSize?: number
  /** Each entry of the request journals is appended to this file as a line of JSON. */
  readonly journalFile?: string
}

/**
 * Starts a mock in this process: in memory and on a free port, unless told otherwise.
 *
 *     await using mock = await createToolmock({ scenario: 'token-dies-mid-run' })
 *
 * @throws ToolmockError INVALID_ARGUMENT for an unknown option or a value that is not allowed; NOT_STARTED with what and where,
 * for a file that cannot be used or an address that is in use
 */
export async function createToolmock(options: ToolmockOptions = {}): Promise<Toolmock> {
  checkOptions('createToolmock', options, RULES)
  // A program that only calls `connect` does not load the server.
  const { createApp } = await import('../app/app.ts')
  const app = await createApp(appOptions(options)).catch((error: unknown) => {
    throw notStarted(error)
  })
  const { host = LOOPBACK, port = 0, adminToken } = options
  try {
    const { url } = await app.listen({ host, port })
    return toolmockOf({
      control: new ControlClient({ url, adminToken, own: true }, 'default'),
      env: variablesOf(url, app),
      end: () => app.close(),
    })
  } catch (error) {
    await app.close()
    throw notStarted(error)
  }
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** A time without a zone would mean another instant on each machine. */
const CLOCK: Rule = {
  allowed: 'an instant from 1970 on with its time zone, such as 2026-01-31T12:00:00Z, or a Date',
  accepts: (value) =>
    (value instanceof Date || (typeof value === 'string' && INSTANT.test(value))) && Number(new Date(value)) >= 0,
}

const BASE_URL: Rule = {
  allowed: 'an http or https URL without query',
  accepts: (value) => typeof value === 'string' && /^https?:\/\/[^?#\s]+$/.test(value) && URL.canParse(value),
}

const TLS: Rule = {
  allowed: 'true, or { cert, key } with the names of PEM files',
  accepts: (value) => {
    if (typeof value === 'boolean') return true
    const { cert, key } = (value ?? {}) as Record<string, unknown>
    return TEXT.accepts(cert) && TEXT.accepts(key)
  },
}

const RULES = {
  scenario: TEXT,
  scenarios: TEXTS,
  seeds: TEXTS,
  clock: CLOCK,
  freeze: BOOLEAN,
  idSeed: wholeNumber(0, 999_999_999),
  strict: BOOLEAN,
  documentedOnly: BOOLEAN,
  state: TEXT,
  fresh: BOOLEAN,
  durability: oneOf('strict', 'relaxed'),
  port: wholeNumber(0, 65_535),
  host: TEXT,
  baseUrl: BASE_URL,
  tls: TLS,
  adminToken: TEXT,
  allowHosts: TEXTS,
  allowOutbound: BOOLEAN,
  watch: BOOLEAN,
  bodyLimit: wholeNumber(1, 999_999_999),
  journalSize: wholeNumber(1, 10_000_000),
  journalFile: TEXT,
} satisfies Record<keyof ToolmockOptions, Rule>

function variablesOf(url: string, { client, authorityFile }: App) {
  return {
    TOOLMOCK_URL: url,
    TOOLMOCK_CLIENT_ID: client.id,
    TOOLMOCK_CLIENT_SECRET: client.secret,
    ...(authorityFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: authorityFile }),
  }
}

function appOptions(options: ToolmockOptions): AppOptions {
  const { scenario, scenarios = [], clock, tls, journalSize, host = LOOPBACK, port: _port, ...same } = options
  const named = [...(scenario === undefined ? [] : [scenario]), ...scenarios]
  return {
    ...same,
    scenarios: named.length === 0 ? undefined : named,
    clock: clock === undefined ? undefined : new Date(clock).toISOString(),
    baseUrl: options.baseUrl?.replace(/\/+$/, ''),
    journalCapacity: journalSize,
    tls: tls === true ? { hosts: [host] } : tls === false ? undefined : tls,
  }
}

function notStarted(error: unknown): ToolmockError {
  if (error instanceof ToolmockError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ToolmockError('NOT_STARTED', `toolmock did not start: ${message}`, { cause: error })
}
