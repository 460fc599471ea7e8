import type { App, AppOptions } from '../app/app.ts'
import { checkNamed, type Kind, oneOf, SWITCH, TEXT, TEXTS, whole } from './arguments.ts'
import { Control } from './control.ts'
import { toolmockOf } from './environment.ts'
import type { ToolmockOptions } from './options.ts'
import type { Toolmock } from './toolmock.ts'
import { ToolmockError } from './toolmock-error.ts'

const LOOPBACK = '127.0.0.1'

/**
 * Starts a mock in this process: in memory and on a free port, unless told otherwise.
 *
 *     await using mock = await createToolmock({ scenario: 'token-dies-mid-run' })
 *
 * @throws ToolmockError INVALID_ARGUMENT for an option that there is not or whose value cannot be; NOT_STARTED with what and
 * where, for a file that cannot be used or an address that is taken
 */
export async function createToolmock(options: ToolmockOptions = {}): Promise<Toolmock> {
  checkNamed('createToolmock', options, KINDS)
  // Whoever only connects to a server does not load one.
  const { createApp } = await import('../app/app.ts')
  const app = await createApp(appOptions(options)).catch((error: unknown) => {
    throw notStarted(error)
  })
  const { host = LOOPBACK, port = 0, adminToken } = options
  try {
    const { url } = await app.listen({ host, port })
    return toolmockOf({
      control: new Control({ url, adminToken, own: true }, 'default'),
      env: variablesOf(url, app),
      end: () => app.close(),
    })
  } catch (error) {
    await app.close()
    throw notStarted(error)
  }
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** A time without a zone would be read in the zone of the machine. */
const CLOCK: Kind = {
  allowed: 'an instant from 1970 on with its time zone, such as 2026-01-31T12:00:00Z, or a Date',
  fits: (value) =>
    (value instanceof Date || (typeof value === 'string' && INSTANT.test(value))) && Number(new Date(value)) >= 0,
}

const URL_TO_BUILD_ON: Kind = {
  allowed: 'an http or https URL without query',
  fits: (value) => typeof value === 'string' && /^https?:\/\/[^?#\s]+$/.test(value) && URL.canParse(value),
}

const TLS: Kind = {
  allowed: 'true, or { cert, key } with the names of PEM files',
  fits: (value) => {
    if (typeof value === 'boolean') return true
    const { cert, key } = (value ?? {}) as Record<string, unknown>
    return TEXT.fits(cert) && TEXT.fits(key)
  },
}

const KINDS = {
  scenario: TEXT,
  scenarios: TEXTS,
  seeds: TEXTS,
  clock: CLOCK,
  freeze: SWITCH,
  idSeed: whole(0, 999_999_999),
  strict: SWITCH,
  state: TEXT,
  fresh: SWITCH,
  durability: oneOf('strict', 'relaxed'),
  port: whole(0, 65_535),
  host: TEXT,
  baseUrl: URL_TO_BUILD_ON,
  tls: TLS,
  adminToken: TEXT,
  allowHosts: TEXTS,
  allowOutbound: SWITCH,
  watch: SWITCH,
  bodyLimit: whole(1, 999_999_999),
  journalSize: whole(1, 10_000_000),
  journalFile: TEXT,
} satisfies Record<keyof ToolmockOptions, Kind>

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
