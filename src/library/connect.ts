import { checkOptions, invalidArgument, type Rule, shown, TEXT } from './arguments.ts'
import { ControlClient } from './control-client.ts'
import { type Toolmock, toolmockOf } from './toolmock.ts'

/** How to reach a server that runs elsewhere. */
export interface ConnectOptions {
  /** The client of the environment; its first client when absent. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** The admin token of the server's control API, when it was started with `--admin-token`. */
  readonly adminToken?: string
  /** The environment; `default` when absent. */
  readonly environment?: string
  /** PEM text of the certificate authority to trust, for HTTPS with a certificate that Node.js does not trust by itself. */
  readonly ca?: string
}

const RULES = {
  clientId: TEXT,
  clientSecret: TEXT,
  adminToken: TEXT,
  environment: TEXT,
  ca: TEXT,
} satisfies Record<keyof ConnectOptions, Rule>

/**
 * Controls a server that runs elsewhere, with the interface of one in this process. `close` leaves it running.
 * @param url where it serves, as `TOOLMOCK_URL` says
 * @throws ToolmockError INVALID_ARGUMENT, UNREACHABLE, NO_TOOLMOCK, ENVIRONMENT_NOT_FOUND, ADMIN_TOKEN_REQUIRED
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Toolmock> {
  checkOptions('connect', options, RULES)
  const { clientId, clientSecret, adminToken, environment = 'default', ca } = options
  const address = serverUrl(url)
  const control = new ControlClient({ url: address, adminToken, ca }, environment)
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

function serverUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/+$/, '')
  throw invalidArgument(
    `connect: ${shown(url)} is not an http or https URL; give the URL of the server, such as http://127.0.0.1:8665`,
  )
}
