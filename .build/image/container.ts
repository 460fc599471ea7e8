import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { freePort } from '../../test/support/free-port.ts'

/** What an image says about how it runs. */
export interface Config {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly [string, ...string[]] }
  readonly Labels: Readonly<Record<string, string>>
  readonly Volumes: object
  readonly ExposedPorts: object
}

export interface Running {
  readonly url: string
  /** Milliseconds from the start of its process until it is ready. */
  readonly ready: number
  inside(command: readonly string[], variables?: Record<string, string>): { status: number | null; output: string }
  healthcheck(variables?: Record<string, string>): { status: number | null; output: string }
  /** Sends SIGTERM to process 1 of the container. */
  stop(): Promise<number | null>
}

/** Mounts of their own, as an engine sets them up: a root that is read-only, the volume, /proc and /dev. */
const CONTAINER = `
  mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount --bind "$2" "$1/data" &&
  mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift 2 && exec unshare "$@"`

/** Starts a server as an engine does: as process 1, as the image's user, on a read-only root, with one folder as its volume. */
export async function startServer(container: {
  readonly root: string
  readonly config: Config
  readonly data: string
  readonly variables: Record<string, string>
}): Promise<Running> {
  const { root, config, data } = container
  const port = await freePort()
  const variables = { TOOLMOCK_PORT: `${port}`, ...container.variables }
  const env = {
    ...Object.fromEntries(config.Env.map((each) => each.split(/=(.*)/s, 2) as [string, string])),
    ...variables,
  }
  const [uid = '', gid = ''] = config.User.split(':')
  const user = ['--setuid', uid, '--setgid', gid]
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
  const enter = [`--root=${root}`, `--wd=${config.WorkingDir}`, ...user, ...config.Entrypoint]
  const began = performance.now()
  const server = spawn('unshare', [...namespaces, 'sh', '-c', CONTAINER, 'sh', root, data, ...enter], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit') as Promise<[number | null]>
  // A check that fails meanwhile ends this process.
  process.once('exit', () => server.kill('SIGKILL'))
  await firstLine(server.stdout, ended)
  const url = `http://127.0.0.1:${port}`
  await checkReady(url)
  const ready = Math.round(performance.now() - began)
  const first = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim()
  const inside: Running['inside'] = (command, more = {}) => {
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      ['--target', first, '--mount', '--pid', '--root', '--wd', ...user, ...command],
      { env: { ...env, ...more }, encoding: 'utf8' },
    )
    return { status, output: (stdout + stderr).trim() }
  }
  return {
    url,
    ready,
    inside,
    healthcheck: (more) => inside(config.Healthcheck.Test.slice(1), more),
    stop: async () => {
      process.kill(Number(first), 'SIGTERM')
      return (await ended)[0]
    },
  }
}

/** The same program and the same Node without a container. Returns the milliseconds until it is ready. */
export async function startOutside(root: string): Promise<number> {
  const began = performance.now()
  const server = spawn(
    join(root, 'usr/local/bin/node'),
    [join(root, 'app/dist/cli.js'), 'start', '--in-memory', '--port', '0'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = once(server, 'exit') as Promise<[number | null]>
  const url = /http:\S+/.exec(await firstLine(server.stdout, ended))?.[0] ?? ''
  await checkReady(url)
  const ready = Math.round(performance.now() - began)
  server.kill('SIGTERM')
  await ended
  return ready
}

async function firstLine(stdout: Readable, ended: Promise<[number | null]>): Promise<string> {
  const [line] = await Promise.race([once(createInterface(stdout), 'line') as Promise<[string]>, ended])
  if (typeof line !== 'string') throw new Error(`the server ends with ${line ?? 'a signal'} before it serves`)
  return line
}

/** @throws Error when the server, which says that it serves, is not ready */
async function checkReady(url: string): Promise<void> {
  const { status } = await fetch(`${url}/_mock/ready`)
  if (status !== 200) throw new Error(`GET ${url}/_mock/ready answers ${status}`)
}
