import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { ROOT } from '../project.ts'
import { type Config, startOutside, startServer } from './container.ts'
import { type Architecture, Buildah, buildImage, download, inTemporaryFolder, OWN, packProduct, run } from './image.ts'

// `npm run check:image` builds the image from what `npm run build` made, and runs it as an engine does: as process 1, as the
// image's user, on a root that nothing can write to, with one folder as its volume. It prints what it sees.

/** The most that a pull of one architecture may load. */
const MEGABYTES = 60
/** What a user other than root may write to without a read-only root. */
const WRITABLE = ['/data', '/tmp', '/var/lock', '/var/tmp']
const CLIENTS = 10
const STARTS = 5

const missing = [
  process.platform === 'linux' && process.getuid?.() === 0 ? [] : ['root on Linux'],
  ['buildah', 'apt-get', 'dpkg-deb', 'unshare', 'nsenter'].filter((name) => spawnSync(name, ['--version']).error),
].flat()
if (missing.length > 0) {
  console.log(`check:image is skipped; missing: ${missing.join(', ')}`)
  if (process.env.CI) process.exitCode = 1
} else await inTemporaryFolder(checkImage)

async function checkImage(folder: string): Promise<void> {
  const buildah = new Buildah(folder)
  try {
    const tarball = packProduct(folder)
    const name = timed('build of both architectures', () => buildImage(buildah, tarball, folder))
    checkManifest(buildah, name, folder)
    for (const architecture of ['amd64', 'arm64'] as const) checkSize(buildah, name, architecture, folder)
    const image = `${name}-${OWN}`
    const config = checkConfig(buildah, image)
    const root = buildah.mount(image)
    checkTree(root, config)
    await checkRuns(root, config, folder)
    checkDockerfile(buildah, root, folder)
  } finally {
    // Mounted containers would keep the folder from being removed.
    buildah.run('rm', '--all')
  }
}

function checkManifest(buildah: Buildah, name: string, folder: string): void {
  const pushed = join(folder, 'manifest')
  buildah.run('manifest', 'push', '--quiet', '--all', '--format', 'v2s2', name, `dir:${pushed}`)
  const { mediaType, manifests } = JSON.parse(readFileSync(join(pushed, 'manifest.json'), 'utf8')) as {
    mediaType: string
    manifests: { platform: { os: string; architecture: string } }[]
  }
  const platforms = manifests.map(({ platform }) => `${platform.os}/${platform.architecture}`)
  seen(`one manifest for`, platforms, ['linux/amd64', 'linux/arm64'])
  seen('its format', mediaType, 'application/vnd.docker.distribution.manifest.list.v2+json')
}

/** Pushes it as to a registry, which compresses the layers. */
function checkSize(buildah: Buildah, name: string, architecture: Architecture, folder: string): void {
  const pushed = join(folder, `pushed-${architecture}`)
  buildah.run('push', '--quiet', '--format', 'v2s2', `${name}-${architecture}`, `dir:${pushed}`)
  const { layers } = JSON.parse(readFileSync(join(pushed, 'manifest.json'), 'utf8')) as { layers: { size: number }[] }
  const sizes = layers.map(({ size }) => size / 1e6)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const parts = sizes.map((size, at) => `${['Debian', 'Node', 'toolmock', '/data'][at] ?? '?'} ${size.toFixed(1)}`)
  const line = `${architecture}, compressed: ${total.toFixed(1)} MB (${parts.join(', ')}); at most ${MEGABYTES} MB`
  require(total <= MEGABYTES, line)
}

function checkConfig(buildah: Buildah, image: string): Config {
  const { Docker } = JSON.parse(buildah.run('inspect', '--type', 'image', image)) as { Docker: { config: Config } }
  const { config } = Docker
  seen('health check', config.Healthcheck.Test, ['CMD', 'node', '/app/dist/cli.js', 'healthcheck'])
  seen('volumes and ports', [config.Volumes, config.ExposedPorts], [{ '/data': {} }, { '8665/tcp': {} }])
  const labels = ['description', 'licenses', 'title', 'version'].map((label) => `org.opencontainers.image.${label}`)
  seen('labels', Object.keys(config.Labels).sort(), labels)
  return config
}

function checkTree(root: string, config: Config): void {
  const user = readFileSync(join(root, 'etc/passwd'), 'utf8')
    .split('\n')
    .find((line) => line.includes(':1000:1000:'))
  seen('user', [config.User, user?.split(':')[0]], ['1000:1000', 'node'])
  const programs = ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin'].flatMap((each) =>
    readdirSync(join(root, each)),
  )
  seen('programs, a shell not among them', programs, ['node'])
  const others = ['-perm', '-o+w', '-not', '-type', 'l']
  const found = (...where: readonly string[]) =>
    run('find', [root, ...where])
      .split('\n')
      .sort()
  const writable = found('-xdev', '(', '-uid', '1000', '-o', ...others, ')', '-printf', '/%P\\n')
  seen('writable by mode or owner', writable, WRITABLE)
  console.log(found('-maxdepth', '2', '-not', '-path', '*/etc/*', '-printf', '/%P %M %U\\n').join('\n'))
}

async function checkRuns(root: string, config: Config, folder: string): Promise<void> {
  const volume = (name: string): string => {
    const made = join(folder, name)
    // As an engine makes a new volume: with the content and the owner that the folder has in the image.
    run('cp', ['-a', join(root, 'data'), made])
    return made
  }
  const start = (data: string, variables: Record<string, string> = {}) => startServer({ root, config, data, variables })

  const unused = volume('unused')
  const inMemory = await start(unused, { TOOLMOCK_IN_MEMORY: 'true' })
  seen('health check from inside', inMemory.healthcheck(), { status: 0, output: `${inMemory.url}/_mock/health is up` })
  const { status } = inMemory.healthcheck({ TOOLMOCK_PORT: `${await freePort()}` })
  seen('health check from inside of a port that nothing serves', status, 1)
  const tried = ['/app/dist/x', '/data/x', '/etc/x', '/tmp/x', '/usr/local/bin/x', '/x']
  const code = `for (const path of ${JSON.stringify(tried)}) try { fs.writeFileSync(path, ''); console.log(path) } catch {}`
  seen('writable from inside', inMemory.inside(['node', '--eval', code]).output.split('\n'), ['/data/x'])
  seen(
    'user from inside',
    inMemory.inside(['node', '--print', 'process.getuid() + ":" + process.getgid()']).output,
    '1000:1000',
  )
  seen('exit code after SIGTERM', await inMemory.stop(), 0)
  seen('what --in-memory leaves in /data', readdirSync(unused), ['x'])

  const data = volume('data')
  const first = await start(data)
  const statuses = await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) => useAsClient(first.url, `user-${at}@example.com`)),
  )
  seen(`answers to ${CLIENTS} parallel clients`, [...new Set(statuses.flat())].sort(), [200, 201])
  seen('exit code after SIGTERM', await first.stop(), 0)
  const files = readdirSync(data)
  seen('in the volume after that', files, ['state.json'])
  seen('owner of the state', statSync(join(data, 'state.json')).uid, 1000)
  const second = await start(data)
  const token = await signIn(second.url)
  const listed = await call(second.url, '/api/v1/connected_accounts?page_size=100', token)
  const { connected_accounts } = (await listed.json()) as { connected_accounts: unknown[] }
  seen('accounts that a second start reads', connected_accounts.length, CLIENTS)
  seen('exit code after SIGTERM', await second.stop(), 0)

  const inside: number[] = []
  const outside: number[] = []
  for (let round = 0; round < STARTS; round++) {
    const server = await start(unused, { TOOLMOCK_IN_MEMORY: 'true' })
    inside.push(server.ready)
    await server.stop()
    outside.push(await startOutside(root))
  }
  console.log(
    `ready after ${median(inside)} ms inside, ${median(outside)} ms outside with the same Node (medians of ${STARTS})`,
  )
}

async function useAsClient(url: string, identifier: string): Promise<number[]> {
  const token = await signIn(url)
  const credentials = { oauth_token: { access_token: `at-${identifier}`, refresh_token: `rt-${identifier}` } }
  const account = { connector: 'mail', identifier }
  const made = await call(url, '/api/v1/connected_accounts', token, {
    ...account,
    connected_account: { authorization_details: credentials },
  })
  const message = { to: 'grace@example.com', subject: 'Hello', body: 'From a container.' }
  const sent = await call(url, '/api/v1/execute_tool', token, {
    ...account,
    tool_name: 'mail_send_message',
    tool_input: message,
  })
  return [made.status, sent.status]
}

async function signIn(url: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  return ((await answer.json()) as { access_token: string }).access_token
}

function call(url: string, path: string, token: string, body?: object): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return fetch(url + path, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) })
}

/**
 * Runs every step of the Dockerfile. Its base is a stand-in, because there is no registry to pull from: the base of the image,
 * with the shell and the programs that the real one has, and this machine's npm.
 */
function checkDockerfile(buildah: Buildah, built: string, folder: string): void {
  const standIn = join(folder, 'stand-in')
  const [busybox = ''] = download(['busybox-static'], OWN, join(folder, 'busybox'))
  run('dpkg-deb', ['--extract', busybox, standIn])
  const applets = run(join(standIn, 'bin/busybox'), ['--list']).split('\n')
  for (const applet of applets) if (applet !== 'busybox') symlinkSync('busybox', join(standIn, 'bin', applet))
  mkdirSync(join(standIn, 'usr/bin'), { recursive: true })
  symlinkSync('/bin/busybox', join(standIn, 'usr/bin/env'))
  const npm = dirname(dirname(realpathSync(run('which', ['npm']))))
  cpSync(npm, join(standIn, 'usr/local/lib/npm'), { recursive: true, verbatimSymlinks: true })
  mkdirSync(join(standIn, 'usr/local/bin'))
  symlinkSync('/usr/local/lib/npm/bin/npm-cli.js', join(standIn, 'usr/local/bin/npm'))
  // The shared cache has what npm ci has installed here. npm asks the registry first otherwise, and retries for minutes where
  // the stand-in, which has no authorities of its own, does not trust it.
  writeFileSync(join(standIn, 'usr/local/lib/npm/npmrc'), 'prefer-offline=true\n')
  const base = `localhost/toolmock-base:${OWN}`
  const container = buildah.run('from', '--pull-never', base)
  buildah.run('add', container, standIn, '/')
  buildah.run('commit', '--quiet', container, 'localhost/stand-in')
  // How this machine reaches the registry of npm.
  const shared = ['/etc/ssl/certs', ...['.npm', '.npmrc'].map((name) => join(homedir(), name))].filter(existsSync)
  const volumes = shared.flatMap((path) => ['--volume', `${path}:${path.replace(homedir(), '/root')}`])
  const baseArgument = ['--build-arg', 'BASE=localhost/stand-in']
  timed('every step of the Dockerfile, on a stand-in for its base', () => {
    buildah.build(...volumes, ...baseArgument, '--tag', 'localhost/from-dockerfile', ROOT)
  })
  const root = buildah.mount('localhost/from-dockerfile')
  const { status, stdout } = spawnSync('diff', ['-r', join(built, 'app'), join(root, 'app')], { encoding: 'utf8' })
  require(status === 0, `/app of both images has the same bytes${stdout.slice(0, 2000)}`)
}

/** Prints what was found. @throws Error when it is not what has to be there */
function seen(what: string, found: unknown, expected: unknown): void {
  const [is, wanted] = [found, expected].map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  require(is === wanted, is === wanted ? `${what}: ${is}` : `${what}: ${is}; it has to be ${wanted}`)
}

function require(holds: boolean, line: string): void {
  if (!holds) throw new Error(line)
  console.log(line)
}

function timed<T>(what: string, does: () => T): T {
  const began = performance.now()
  const result = does()
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return result
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
