import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { type Serving, ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { freePort } from '../../support/free-port.ts'
import { describeWith } from '../../support/machine.ts'
import { postgresPrograms, TestPostgres } from '../../support/postgres.ts'
import { History } from './history.ts'

/*
 * The two files of docs/containers.md as processes on loopback: commands, variables, probes and configuration are those of the files.
 * Only hosts and ports are others: each container or pod has an address 127.0.0.N of its own.
 */

type Variables = Record<string, string>

const WRITERS = { writers: 4, readers: 6 }
/** The port of every container and pod in the files. */
const PORT = '8665'

const toolmock = ToolmockProcess.forThisFile()

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

/** A container of the image, as its `Dockerfile` runs it. */
class Container {
  readonly host: string
  readonly #args: readonly string[]
  readonly #variables: Variables
  #serving: Serving | undefined

  constructor(host: string, port: string, { args = ['start'], variables }: { args?: string[]; variables: Variables }) {
    this.host = host
    const [command, ...rest] = args
    expect(command).toBe('start')
    this.#args = rest
    this.#variables = { ...variables, TOOLMOCK_HOST: host, TOOLMOCK_PORT: port }
  }

  get serving(): Serving {
    if (!this.#serving) throw new Error(`${this.host} does not run`)
    return this.#serving
  }

  async start(): Promise<void> {
    this.#serving = await toolmock.start(this.#args, this.#variables)
  }

  /** The health check of the image. */
  async healthy(): Promise<void> {
    const [, command = ''] = /^HEALTHCHECK.*CMD (.*)$/m.exec(read('Dockerfile')) ?? []
    const [, , ...args] = JSON.parse(command) as string[]
    await expect.poll(async () => (await toolmock.run(args, this.#variables)).code, { timeout: 60_000 }).toBe(0)
  }

  /** @returns the exit code, and how long it took */
  async stop(signal: NodeJS.Signals): Promise<{ code: number | null; ms: number }> {
    const began = performance.now()
    const { code } = await this.serving.stop(signal)
    return { code, ms: performance.now() - began }
  }
}

function expectOnlySuccess({ violations, refusals, answers, acknowledged }: History): void {
  expect(violations).toEqual([])
  expect([...refusals]).toEqual([])
  expect(Object.fromEntries(answers)).toEqual({ 200: expect.any(Number) as number })
  expect(acknowledged).toBeGreaterThan(100)
}

interface Service {
  readonly environment: Variables
  readonly healthcheck: { readonly test: readonly string[] }
  readonly hostname: string
  readonly stop_grace_period: string
}

interface Composed {
  readonly services: Readonly<Record<string, Service>>
  readonly configs: { readonly balancer: { readonly content: string } }
}

/** With the values that Compose puts in. */
function composed(): Composed {
  const text = read('docs/compose-team.yaml').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
  return parse(text, { merge: true }) as Composed
}

describeWith('PostgreSQL and a load balancer', 'docs/compose-team.yaml', () => {
  it('has three replicas that survive kill -9 and roll out behind the load balancer without a failed request', async () => {
    const { services, configs } = composed()
    const { database, ...others } = services
    const replicas = Object.entries(others).filter(([name]) => name.startsWith('replica-'))
    expect(replicas.map(([name, { hostname }]) => [name, hostname])).toEqual(
      [1, 2, 3].map((n) => [`replica-${n}`, `replica-${n}`]),
    )
    const { POSTGRES_USER = '', POSTGRES_PASSWORD, POSTGRES_DB } = database?.environment ?? {}
    const postgres = await TestPostgres.start(POSTGRES_USER, POSTGRES_PASSWORD)
    const [port, front] = [await freePort(), await freePort()]
    const hosts = new Map(replicas.map(([name], at) => [name, `127.0.0.${at + 2}`]))
    const toLoopback = (text: string): string =>
      text
        .replaceAll(/\b(replica-\d):8665/g, (_, name: string) => `${hosts.get(name) ?? ''}:${port}`)
        .replaceAll('@database/', `@127.0.0.1:${postgres.port}/`)
        .replaceAll(`bind :${PORT}`, `bind 127.0.0.1:${front}`)
    const containers = replicas.map(([name, { environment }]) => {
      const variables = Object.entries(environment).map(([key, value]) => [key, toLoopback(value)])
      return new Container(hosts.get(name) ?? '', `${port}`, { variables: Object.fromEntries(variables) as Variables })
    })
    let balancer: ChildProcess | undefined
    try {
      await postgres.query(`create database ${POSTGRES_DB ?? ''}`)
      const [, check = '', ...args] = database?.healthcheck.test ?? []
      const isReady = { ...process.env, PGHOST: '127.0.0.1', PGPORT: `${postgres.port}` }
      expect(execFileSync(`${postgresPrograms() ?? ''}/${check}`, args, { env: isReady }).toString()).toContain(
        'accepting',
      )
      for (const container of containers) {
        await container.start()
        await container.healthy()
      }
      const configuration = toolmock.path('haproxy.cfg')
      writeFileSync(configuration, toLoopback(configs.balancer.content))
      balancer = spawn('haproxy', ['-W', '-db', '-f', configuration], { stdio: 'ignore' })
      const url = `http://127.0.0.1:${front}`
      await expect
        .poll(
          () =>
            fetch(`${url}/_mock/ready`).then(
              ({ status }) => status,
              () => 0,
            ),
          { timeout: 60_000 },
        )
        .toBe(200)
      const history = new History(() => [url])
      await history.begin(WRITERS)
      for (const [at, container] of containers.entries()) {
        const { code, ms } = await container.stop('SIGTERM')
        expect(code).toBe(0)
        expect(ms).toBeLessThan(Number.parseInt(replicas[at]?.[1].stop_grace_period ?? '') * 1000)
        await container.start()
        await container.healthy()
      }
      expectOnlySuccess(history)
      const { active } = (await (await fetch(`${url}/_mock/replicas`)).json()) as { active: { url: string } }
      await containers.find(({ host }) => active.url.includes(host))?.stop('SIGKILL')
      await history.goesOn()
      await history.end()
      expect(history.violations).toEqual([])
    } finally {
      balancer?.kill('SIGTERM')
      for (const container of containers) await container.stop('SIGKILL').catch(() => undefined)
      await postgres.stop()
    }
  }, 180_000)
})

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly failureThreshold?: number
}

interface PodContainer {
  readonly args: string[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly env: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
  }[]
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
}

interface Deployment {
  readonly spec: {
    readonly replicas: number
    readonly template: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly [PodContainer] }
    }
  }
}

describeWith('postgresql', 'docs/kubernetes.yaml', () => {
  it('has pods that pass their probes and roll out without a failed request', async () => {
    const [deployment, service] = parseAllDocuments(read('docs/kubernetes.yaml')).map((each) => each.toJS() as unknown)
    const { replicas, template } = (deployment as Deployment).spec
    const { containers, terminationGracePeriodSeconds: grace } = template.spec
    const [{ args, env, ports, readinessProbe, livenessProbe, lifecycle }] = containers
    expect(ports).toEqual([{ name: 'http', containerPort: Number(PORT) }])
    expect(service).toMatchObject({ kind: 'Service', spec: { ports: [{ targetPort: 'http' }] } })
    const postgres = await TestPostgres.start('toolmock', 'secret')
    const secrets: Variables = { state: postgres.url, 'admin-token': 'token' }
    const port = `${await freePort()}`

    const podAt = (ip: string): Container => {
      const valueOf = ({ name, value, valueFrom }: PodContainer['env'][number]): string =>
        name === 'POD_IP' ? ip : (value ?? secrets[valueFrom?.secretKeyRef?.key ?? ''] ?? '')
      const variables = env.map((each) => [
        each.name,
        valueOf(each).replace('$(POD_IP)', ip).replace(`:${PORT}`, `:${port}`),
      ])
      return new Container(ip, port, { args, variables: Object.fromEntries(variables) as Variables })
    }
    const passes = async ({ httpGet }: Probe, { host }: Container): Promise<boolean> => {
      const name = ports.find((each) => each.name === httpGet.port)?.name
      if (name === undefined) return false
      return (await fetch(`http://${host}:${port}${httpGet.path}`)).status === 200
    }
    let pods: Container[] = []
    const endpoints = new Set<string>()
    const add = async (at: number): Promise<void> => {
      const pod = podAt(`127.0.0.${at + 2}`)
      pods = [...pods, pod]
      await pod.start()
      await expect
        .poll(() => passes(readinessProbe, pod), { timeout: readinessProbe.periodSeconds * 10_000 })
        .toBe(true)
      expect(await passes(livenessProbe, pod)).toBe(true)
      endpoints.add(`http://${pod.host}:${port}`)
    }
    try {
      for (let at = 0; at < replicas; at++) await add(at)
      const history = new History(() => [...endpoints])
      await history.begin(WRITERS)
      for (const [at, pod] of [...pods].entries()) {
        await add(replicas + at)
        // The service learns of the end while the pod pauses.
        const [program = '', ...rest] = lifecycle.preStop.exec.command
        const pausing = spawn(program, rest, { stdio: 'inherit' })
        endpoints.delete(`http://${pod.host}:${port}`)
        expect(await once(pausing, 'exit')).toEqual([0, null])
        expect(await passes(readinessProbe, pod)).toBe(true)
        const { code, ms } = await pod.stop('SIGTERM')
        expect(code).toBe(0)
        expect(ms).toBeLessThan(grace * 1000)
      }
      await history.end()
      expectOnlySuccess(history)
      const [url = ''] = endpoints
      const headers = { 'x-toolmock-admin-token': 'token' }
      const described = (await (await fetch(`${url}/_mock/replicas`, { headers })).json()) as {
        active: { url: string }
        replicas: unknown[]
      }
      expect(described.replicas).toHaveLength(replicas)
      expect((await fetch(`${url}/_mock/replicas`)).status).toBe(401)
      // Pods that stand by stay in rotation while the next one becomes active.
      const { active } = described
      await pods.find(({ host }) => active.url.includes(host))?.stop('SIGKILL')
      const began = performance.now()
      const rest = pods.slice(-replicas).filter(({ host }) => !active.url.includes(host))
      const isReady = async () => (await Promise.all(rest.map((pod) => passes(readinessProbe, pod)))).every(Boolean)
      await expect.poll(isReady).toBe(false)
      await expect.poll(isReady, { timeout: 60_000 }).toBe(true)
      const { periodSeconds, failureThreshold = 3 } = readinessProbe
      expect(performance.now() - began).toBeLessThan(periodSeconds * failureThreshold * 1000)
      expect(JSON.stringify(described)).not.toContain('secret')
    } finally {
      for (const pod of pods) await pod.stop('SIGKILL').catch(() => undefined)
      await postgres.stop()
    }
  }, 180_000)
})
