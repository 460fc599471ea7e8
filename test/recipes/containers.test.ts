import { type IncomingMessage, request } from 'node:http'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { freePort } from '../support/free-port.ts'
import { describeWith } from '../support/machine.ts'
import { codeBlocks } from './markdown.ts'
import { type Connection, pasted } from './shell.ts'

interface Service {
  environment: Record<string, string>
  entrypoint: string[]
  command: string[]
}

const run = promisify(execFile)
const toolmock = ToolmockProcess.forThisFile()
/** The variables that the image sets (`Dockerfile`), except those for paths inside the image. */
const IMAGE = { TOOLMOCK_HOST: '0.0.0.0' }

/** Sends one request to the mock, with the host name that the caller uses. */
async function call(
  port: number,
  as: string,
  path: string,
  method = 'GET',
): Promise<IncomingMessage & { text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers: { Host: as } }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(Object.assign(response, { text })))
    })
    sent.on('error', reject).end()
  })
}

describe('docs/compose.yaml', () => {
  const composed = async (): Promise<Record<'toolmock' | 'app', Service>> => {
    const text = await readFile(new URL('../../docs/compose.yaml', import.meta.url), 'utf8')
    return (parse(text) as { services: Record<'toolmock' | 'app', Service> }).services
  }

  it('has an application that reaches the mock by its service name, and prints a link for a browser on the host', async () => {
    const { toolmock: service, app } = await composed()
    const port = await freePort()
    const serving = await toolmock.start(['--port', `${port}`], { ...IMAGE, ...service.environment })
    try {
      const [, ...options] = app.entrypoint
      const variables = { ...app.environment, TOOLMOCK_URL: `http://toolmock:${port}` }
      // The name `toolmock` is resolved as on the network of the containers.
      const names = `import dns from 'node:dns'
        const { lookup } = dns
        dns.lookup = (name, ...rest) => lookup(name === 'toolmock' ? '127.0.0.1' : name, ...rest)`
      const loaded = `--import=data:text/javascript,${encodeURIComponent(names)}`
      const { stdout } = await run(process.execPath, [loaded, ...options, ...app.command], { env: variables })
      expect(app.environment['TOOLMOCK_URL']).toBe('http://toolmock:8665')
      expect(stdout).toMatch(/^open http:\/\/localhost:8665\/magic\/[\w-]+\n$/)

      const consent = await follow(port, stdout.slice('open '.length).trim())
      expect(consent.statusCode).toBe(200)
      expect(consent.text).toContain('Approve')
    } finally {
      await serving.stop()
    }
  })

  /** Follows an address as a browser on the host, which can only reach localhost. */
  async function follow(port: number, address: string): Promise<IncomingMessage & { text: string }> {
    const { origin, host, pathname, search } = new URL(address)
    expect(origin).toBe('http://localhost:8665')
    const answer = await call(port, host, `${pathname}${search}`)
    return answer.statusCode === 302 ? follow(port, answer.headers.location ?? '') : answer
  }

  it('has a mock whose links are valid in another container', async () => {
    const { toolmock: service } = await composed()
    const port = await freePort()
    const serving = await toolmock.start(['--port', `${port}`], { ...IMAGE, ...service.environment })
    try {
      const made = await call(port, 'toolmock:8665', '/_mock/environments', 'POST')
      expect(JSON.parse(made.text)).toMatchObject({ base_url: 'http://toolmock:8665' })
      const variables = await call(port, 'toolmock:8665', '/_mock/env')
      expect(variables.text).toContain('export TOOLMOCK_URL=http://toolmock:8665\n')
    } finally {
      await serving.stop()
    }
  })

  it('has a mock whose control API answers to both names, and to no other', async () => {
    const { toolmock: service } = await composed()
    const port = await freePort()
    const serving = await toolmock.start(['--port', `${port}`], { ...IMAGE, ...service.environment })
    try {
      const status = async (host: string) => (await call(port, host, '/_mock/reset', 'POST')).statusCode
      expect(await status('toolmock:8665')).toBe(200)
      expect(await status('localhost:8665')).toBe(200)
      expect(await status('toolmock.example:8665')).toBe(403)
    } finally {
      await serving.stop()
    }
  })
})

describeWith('bash', 'the CI job of docs/ci.md', () => {
  it('sends the files of toolmock init to a mock that is already running', async () => {
    const [yaml = ''] = codeBlocks('docs/ci.md', 'As a service of a job', 'yaml')
    const job = parse(yaml) as { services: { toolmock: { env: Record<string, string> } }; steps: { run?: string }[] }
    const script = job.steps.find((step) => step.run?.includes('/_mock/'))?.run ?? ''
    const checkout = await mkdtemp(join(tmpdir(), 'toolmock-checkout-'))
    const serving = await toolmock.start([], { ...IMAGE, ...job.services.toolmock.env })
    try {
      await toolmock.run(['init', join(checkout, 'toolmock')])
      const mock = {
        url: `http://127.0.0.1:${new URL(serving.url).port}`,
        clientId: 'test_client',
        clientSecret: 'test_secret',
      }
      await pasted(script, mock, { cwd: checkout })

      const answer = await fetch(`${mock.url}/_mock/scenarios`)
      const { scenarios } = (await answer.json()) as { scenarios: { name: string; running: boolean }[] }
      expect(scenarios.filter(({ running }) => running).map(({ name }) => name)).toEqual(['bookings-busy'])
      const book = { connector: 'bookings', identifier: 'ada@example.com', tool_name: 'bookings_create' }
      expect(await executeTwice(mock, { ...book, tool_input: { room: 'blue', day: '2026-01-01' } })).toEqual([200, 429])
      const judge = job.steps.at(-1)?.run?.split(' ').slice(2) ?? []
      expect(await toolmock.run(judge, { TOOLMOCK_URL: mock.url })).toMatchObject({ code: 0, stderr: '' })
    } finally {
      await serving.stop()
      await rm(checkout, { recursive: true })
    }
  })
})

async function executeTwice(mock: Connection, body: object): Promise<number[]> {
  const form = { grant_type: 'client_credentials', client_id: mock.clientId, client_secret: mock.clientSecret }
  const token = await fetch(`${mock.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = (await token.json()) as { access_token: string }
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
  const execute = async () =>
    (await fetch(`${mock.url}/api/v1/execute_tool`, { method: 'POST', headers, body: JSON.stringify(body) })).status
  return [await execute(), await execute()]
}
