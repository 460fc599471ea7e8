import { BASE_URL_RULE, isBaseUrl } from '../../model/domain/base-url.ts'
import { invalidArgument, argumentText } from './arguments.ts'
import { ControlClient } from './control-client.ts'
import type { EnvironmentParts } from './toolmock.ts'

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

/**
 * The parts of an environment of a server that runs elsewhere.
 * @internal
 */
export async function readConnection(url: string, options: ConnectOptions): Promise<EnvironmentParts> {
  const { clientId, clientSecret, adminToken, environment = 'default', ca } = options
  const address = checkedServerUrl(url)
  const control = new ControlClient({ url: address, adminToken, ca }, environment)
  const variables = await control.call('GET /env', { query: { format: 'json' } })
  return {
    control,
    env: {
      TOOLMOCK_URL: address,
      TOOLMOCK_CLIENT_ID: clientId ?? variables.TOOLMOCK_CLIENT_ID,
      TOOLMOCK_CLIENT_SECRET: clientSecret ?? variables.TOOLMOCK_CLIENT_SECRET,
    },
    end: () => Promise.resolve(),
  }
}

function checkedServerUrl(url: string): string {
  if (isBaseUrl(url)) return url.replace(/\/+$/, '')
  throw invalidArgument(
    `connect: ${argumentText(url)} is not ${BASE_URL_RULE}; give the URL of the server, such as http://127.0.0.1:8665`,
  )
}
