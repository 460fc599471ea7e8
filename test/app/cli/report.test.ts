import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contractReportSchema, coverageReportSchema } from '../../journal/verdict/report-schemas.ts'
import { readXml } from '../../journal/verdict/xml.ts'
import { freePort } from '../../support/free-port.ts'
import { type Serving, ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()

/** Where each format shows what a client did wrong. */
const FORMATS: Readonly<Record<string, (text: string) => string>> = {
  json: (text) => JSON.stringify(contractReportSchema.parse(JSON.parse(text)).total.findings),
  junit: (text) => JSON.stringify(readXml(text)),
  sarif: (text) => JSON.stringify((JSON.parse(text) as { runs: [{ results: unknown }] }).runs[0].results),
  html: (text) => text.slice(text.indexOf('<h1>The verdict failed</h1>')),
}

describe('toolmock report', () => {
  let serving: Serving
  const report = (args: readonly string[], variables: Record<string, string> = {}) =>
    toolmock.run(['report', ...args], { TOOLMOCK_URL: serving.url, ...variables })
  beforeAll(async () => {
    serving = await toolmock.start(['--in-memory'])
    const body = new URLSearchParams({ client_id: 'test_client', client_secret: 'test_secret', grant_type: 'password' })
    await fetch(`${serving.url}/oauth/token`, { method: 'POST', body })
    await fetch(`${serving.url}/_mock/environments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"name":"worker-2"}',
    })
  })
  afterAll(() => serving.stop())

  it.each(Object.keys(FORMATS))('writes the contract as %s to stdout, and the same to a file', async (format) => {
    const { code, stdout, stderr } = await report(['--format', format])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(FORMATS[format]?.(stdout)).toContain('grant_type')
    const file = toolmock.path(`made/for-it/contract.${format}`)
    expect(await report(['contract', '--format', format, '--output', file])).toEqual({
      code: 0,
      stdout: `wrote ${file}\n`,
      stderr: '',
    })
    const timeless = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '')
    expect(timeless(readFileSync(file, 'utf8'))).toBe(timeless(stdout))
  })

  it('writes the coverage as JSON, and as a page', async () => {
    const { stdout } = await report(['coverage'])
    expect(coverageReportSchema.parse(JSON.parse(stdout)).environments).toHaveLength(2)
    expect((await report(['coverage', '--format', 'html'])).stdout).toContain('<h2 id="coverage-title">')
  })

  it('shows one environment', async () => {
    const { stdout } = await report(['--format', 'json', '--environment', 'worker-2'])
    expect(contractReportSchema.parse(JSON.parse(stdout))).toMatchObject({
      ok: true,
      environments: [{ name: 'worker-2' }],
    })
  })

  it('adds the check by Prism of the exchanges in the journal', async () => {
    const { code, stdout } = await report(['--judge', 'prism'])
    expect(code).toBe(0)
    const { second_opinion: byPrism } = contractReportSchema.parse(JSON.parse(stdout))
    expect(byPrism).toMatchObject({ judge: 'prism', judged: { answers: 1 }, disagreements: [] })
  })

  it('ends with 1 for a broken contract with --fail, and still writes the report', async () => {
    const { code, stdout, stderr } = await report(['--fail', '--format', 'junit'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'toolmock: the verdict failed; the report says why\n' })
    expect(readXml(stdout).name).toBe('testsuites')
    const nothing = await report(['--fail', '--environment', 'worker-2'])
    expect(nothing).toMatchObject({ code: 1, stderr: expect.stringMatching(/^toolmock: no operation was called/) })
    const allowed = await report(['--fail', '--environment', 'worker-2', '--allow-no-requests'])
    expect(allowed).toMatchObject({ code: 0, stderr: '' })
  })

  it('ends with 1 with --fail when nothing was judged, unless that is allowed', async () => {
    const refusing = await toolmock.start(['--in-memory'])
    const headers = { Authorization: 'Bearer stale' }
    await fetch(`${refusing.url}/api/v1/connections`, { headers })
    const variables = { TOOLMOCK_URL: refusing.url }
    const { code, stdout, stderr } = await report(['--fail'], variables)
    const reason = 'nothing was judged: 1 request, 401 (the bearer token is unknown);'
    expect([code, stdout.includes(reason), stderr.startsWith(`toolmock: ${reason}`)]).toEqual([1, true, true])
    const allowed = await report(['--fail', '--allow-no-requests'], variables)
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^toolmock: there is nothing to check\n/) })
    await refusing.stop()
  })

  it('prints what `run` prints by default', async () => {
    const { code, stdout } = await report([])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^toolmock: the verdict failed for \d+ reasons?\n {2}/)
  })

  it.each<[readonly string[], string]>([
    [
      ['--format', 'pdf'],
      '--format pdf: expected one of json, text, junit, sarif, gitlab, github, html. See npx toolmock report --help.',
    ],
    [
      ['verdict'],
      'report takes one of contract, coverage, or merge with files; found verdict. See npx toolmock report --help.',
    ],
    [
      ['coverage', '--format', 'junit'],
      'coverage has the formats json and html; the junit of contract contains it too. See npx toolmock report --help.',
    ],
    [
      ['--judge', 'prism', '--format', 'html'],
      '--judge prism goes with the json of contract; found html of contract. See npx toolmock report --help.',
    ],
    [
      ['coverage', '--judge', 'prism'],
      '--judge prism goes with the json of contract; found json of coverage. See npx toolmock report --help.',
    ],
    [['--judge', 'me'], '--judge me: expected one of prism. See npx toolmock report --help.'],
    [
      ['--url', 'ftp://x'],
      '--url ftp://x: expected an http or https URL without user name, query and fragment. See npx toolmock report --help.',
    ],
  ])('%j is refused with what is allowed', async (args, line) => {
    expect(await report(args)).toEqual({ code: 2, stdout: '', stderr: `toolmock: ${line}\n` })
  })

  it('lists the environments when the named one does not exist', async () => {
    const { code, stderr } = await report(['--environment', 'nowhere'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/ answers 404: there is no environment "nowhere"; there are default, worker-2\n$/)
  })

  it('leaves a file that it cannot replace unchanged, and no temporary file beside it', async () => {
    const folder = toolmock.path('taken')
    mkdirSync(`${folder}/contract.html`, { recursive: true })
    const { code, stdout, stderr } = await report(['--format', 'html', '-o', `${folder}/contract.html`])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^toolmock: the report .*contract\.html cannot be written \(\w+\)\n$/)
    expect(readdirSync(folder)).toEqual(['contract.html'])
    writeFileSync(toolmock.path('old.json'), 'as it was')
    expect((await report(['--environment', 'nowhere', '-o', toolmock.path('old.json')])).code).toBe(2)
    expect(readFileSync(toolmock.path('old.json'), 'utf8')).toBe('as it was')
  })

  it('creates no state folder', async () => {
    await report([])
    expect(existsSync(toolmock.path('.toolmock'))).toBe(false)
  })
})

describe('toolmock report names the reason when', () => {
  const stderrOf = async (args: readonly string[], variables: Record<string, string> = {}): Promise<string> => {
    const { code, stdout, stderr } = await toolmock.run(['report', ...args], variables)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    return stderr
  }
  const other = async (work: (url: string) => Promise<void>, text: string): Promise<void> => {
    const server: Server = createServer((_request, response) => response.end(text))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.close()
  }

  it('no server listens there', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    expect(await stderrOf(['--url', url])).toBe(
      `toolmock: ${url} is not served. Start a server with \`npx toolmock start\`, or name one: --url URL or TOOLMOCK_URL.\n`,
    )
  })

  it.each(['<html>', '{}', '[]', '7'])('another server listens at the URL, and answers %s', async (text) => {
    await other(async (url) => {
      expect(await stderrOf(['--url', url])).toBe(
        'toolmock: the server does not answer with a report; is it a toolmock?\n',
      )
    }, text)
  })

  it.each(['junit', 'sarif', 'html'])('another server listens at the URL, and answers no %s report', async (format) => {
    await other(async (url) => {
      expect(await stderrOf(['--url', url, '--format', format])).toMatch(/is it a toolmock\?\n$/)
    }, '<html><title>Welcome</title></html>')
  })

  it('the server does not serve HTTPS, or only HTTPS', async () => {
    await other(async (url) => {
      expect(await stderrOf(['--url', url.replace('http:', 'https:')])).toMatch(
        /does not answer by TLS; does it serve HTTP\?/,
      )
    }, '')
    const serving = await toolmock.start(['--in-memory', '--tls'])
    expect(await stderrOf(['--url', serving.url.replace('https:', 'http:')])).toMatch(
      /does it serve HTTPS\? Then give --tls/,
    )
    await serving.stop()
  })

  it('the admin token is missing or wrong; with it, and a trusted authority, the report is written', async () => {
    const serving = await toolmock.start(['--in-memory', '--tls', '--admin-token', 's3cret', '--json'])
    const { authority_file: NODE_EXTRA_CA_CERTS } = JSON.parse(serving.firstLine) as { authority_file: string }
    const { port } = new URL(serving.url)
    const trusting = { NODE_EXTRA_CA_CERTS, TOOLMOCK_PORT: port, TOOLMOCK_TLS: '1' }
    expect(await stderrOf(['--url', serving.url])).toMatch(/certificate of an unknown authority .* NODE_EXTRA_CA_CERTS/)
    expect(await stderrOf([], trusting)).toMatch(/asks for the admin token: give it by --admin-token or TOOLMOCK_ADMIN/)
    expect(await stderrOf(['--admin-token', 'x'], trusting)).toMatch(/takes another admin token than the one of/)
    const { code, stdout } = await toolmock.run(['report', '--format', 'json'], {
      ...trusting,
      TOOLMOCK_ADMIN_TOKEN: 's3cret',
    })
    expect(code).toBe(0)
    expect(contractReportSchema.parse(JSON.parse(stdout)).ok).toBe(true)
    await serving.stop()
  })
})
