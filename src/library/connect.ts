import { checkNamed, invalidArgument, type Kind, shown, TEXT } from './arguments.ts'
import { Control } from './control.ts'
import { toolmockOf } from './environment.ts'
import type { Toolmock } from './toolmock.ts'

/** How to talk to a server that runs elsewhere. */
export interface ConnectOptions {
  /** The client of the environment; its first client when absent. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** What the server's control API asks for, where it was started with `--admin-token`. */
  readonly adminToken?: string
  /** The environment that it is about; `default` when absent. */
  readonly environment?: string
  /** PEM text of the authority to trust, for HTTPS with a certificate that node does not trust by itself. */
  readonly ca?: string
}

/**
 * Steers a server that runs elsewhere, with the same interface as one of this process. `close` leaves it running.
 * @param url where it serves, as `TOOLMOCK_URL` says
 * @throws ToolmockError INVALID_ARGUMENT, UNREACHABLE, NO_TOOLMOCK, ENVIRONMENT_NOT_FOUND, ADMIN_TOKEN_REQUIRED
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Toolmock> {
  checkNamed('connect', options, KINDS)
  const { clientId, clientSecret, adminToken, environment = 'default', ca } = options
  const address = addressOf(url)
  const control = new Control({ url: address, adminToken, ca }, environment)
  const known = await control.call('GET /env', { query: { format: 'json' } })
  return toolmockOf({
    control,
    env: {
      TOOLMOCK_URL: address,
      TOOLMOCK_CLIENT_ID: clientId ?? known.TOOLMOCK_CLIENT_ID,
      TOOLMOCK_CLIENT_SECRET: clientSecret ?? known.TOOLMOCK_CLIENT_SECRET,
    },
    end: () => Promise.resolve(),
  })
}

const KINDS = {
  clientId: TEXT,
  clientSecret: TEXT,
  adminToken: TEXT,
  environment: TEXT,
  ca: TEXT,
} satisfies Record<keyof ConnectOptions, Kind>

function addressOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/+$/, '')
  throw invalidArgument(
    `connect: ${shown(url)} is no http or https URL; give where the server serves, such as http://127.0.0.1:8665`,
  )
}
