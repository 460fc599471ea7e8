export type PeerName = 'prism-cli' | 'mockoon-cli' | 'json-server' | 'oauth2-mock-server'

interface PeerInputs {
  port: string
  /** The OpenAPI document of the service. */
  spec: string
  /** The database of json-server, with accounts. */
  database: string
}

export interface Peer {
  name: PeerName
  packageName: string
  /** The newest version that runs on Node 20. */
  version: string
  /** The path of the program in the package. */
  program: string
  args: (inputs: PeerInputs) => string[]
  /** A path and the status that the peer answers there when it is ready. Prism answers 401 without a bearer token. */
  ready: { path: string; status: number }
}

const DETAILS = '/api/v1/connected_accounts/details?id=ca_00000000000000000001'

export const PEERS: readonly Peer[] = [
  {
    name: 'prism-cli',
    packageName: '@stoplight/prism-cli',
    version: '5.12.0',
    program: 'dist/index.js',
    args: ({ port, spec }) => ['mock', '--host', '127.0.0.1', '--port', port, '--verboseLevel', 'error', spec],
    ready: { path: DETAILS, status: 401 },
  },
  {
    name: 'mockoon-cli',
    packageName: '@mockoon/cli',
    version: '9.9.0',
    program: 'bin/run.js',
    args: ({ port, spec }) => [
      'start',
      ...['--data', spec, '--hostname', '127.0.0.1', '--port', port],
      ...['--disable-log-to-file', '--disable-admin-api'],
    ],
    ready: { path: DETAILS, status: 200 },
  },
  {
    name: 'json-server',
    packageName: 'json-server',
    version: '0.17.4',
    program: 'lib/cli/bin.js',
    args: ({ port, database }) => ['--host', '127.0.0.1', '--port', port, '--quiet', database],
    ready: { path: '/connected_accounts/ca_1', status: 200 },
  },
  {
    name: 'oauth2-mock-server',
    packageName: 'oauth2-mock-server',
    version: '7.2.1',
    program: 'dist/oauth2-mock-server.js',
    args: ({ port }) => ['-a', '127.0.0.1', '-p', port],
    ready: { path: '/.well-known/openid-configuration', status: 200 },
  },
]
