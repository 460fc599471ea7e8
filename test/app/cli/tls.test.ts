import { readFileSync, writeFileSync } from 'node:fs'
import { get, request } from 'node:https'
import { describe, expect, it } from 'vitest'
import { makeTemporaryCertificate } from '../../../src/servers/tls/server-credentials.ts'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()
const NOW = Date.now()

/** The status that a client with these trusted authorities gets, or its TLS error. */
function statusFor(url: string, trusted: { ca?: string; servername?: string }): Promise<number | string> {
  return new Promise((resolve) => {
    const asked = get(`${url}/_mock/health`, { agent: false, ...trusted }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', (error: Error & { code?: string }) => {
      resolve(error.code ?? error.message)
    })
  })
}

function postForm(url: string, ca: string, form: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const asked = request(url, { agent: false, ca, method: 'POST', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => {
        resolve(text)
      })
    })
    asked.on('error', reject)
    asked.end(form)
  })
}

describe('toolmock start --tls', () => {
  it('serves HTTPS, which a client trusts that has the file of its authority, and no other client', async () => {
    const serving = await toolmock.start(['--in-memory', '--tls', '--json', '--base-url', 'https://mock.internal'])
    const ready = JSON.parse(serving.firstLine) as { authority_file: string; variables: Record<string, string> }
    const ca = readFileSync(ready.authority_file, 'utf8')
    expect(ready.variables).toMatchObject({
      TOOLMOCK_URL: 'https://mock.internal',
      NODE_EXTRA_CA_CERTS: ready.authority_file,
    })
    expect(ca).not.toContain('PRIVATE KEY')
    await serving.stop()
    expect(() => readFileSync(ready.authority_file)).toThrow('ENOENT')
  })

  it('has a certificate for the names of loopback, and leaves the authority beside the state', async () => {
    const state = toolmock.path('tls/state.json')
    const serving = await toolmock.start(['--state', state, '--tls'])
    const ca = readFileSync(toolmock.path('tls/state.authority.pem'), 'utf8')
    const { port } = new URL(serving.url)

    expect(serving.url).toBe(`https://127.0.0.1:${port}`)
    expect(await statusFor(serving.url, { ca })).toBe(200)
    expect(await statusFor(serving.url, { ca, servername: 'localhost' })).toBe(200)
    expect(await statusFor(serving.url, {})).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE')

    const form = 'grant_type=client_credentials&client_id=test_client&client_secret=test_secret'
    expect(JSON.parse(await postForm(`${serving.url}/oauth/token`, ca, form))).toMatchObject({ token_type: 'Bearer' })
    const { code, stdout } = await serving.stop()
    expect(code).toBe(0)
    expect(stdout).toContain(
      `clients trust it by the certificate authority in ${toolmock.path('tls/state.authority.pem')}\n`,
    )
    expect(stdout).toContain(`export NODE_EXTRA_CA_CERTS=${toolmock.path('tls/state.authority.pem')}\n`)
  })

  it('is refused where the authority cannot be written, as in a container that is read-only', async () => {
    // Node 26 makes a folder that is not there, for its compile cache.
    const TMPDIR = toolmock.path('no-folder')
    writeFileSync(TMPDIR, '')
    const { code, stderr } = await toolmock.run(['start', '--port', '0', '--in-memory', '--tls'], { TMPDIR })
    expect(stderr).toBe(
      `toolmock: the certificate of the authority cannot be written to ${TMPDIR}: a part of its path is no folder.\n`,
    )
    expect(code).toBe(2)
  })

  it('is reported healthy by healthcheck, which reads the same variables', async () => {
    const serving = await toolmock.start(['--in-memory'], { TOOLMOCK_TLS: '1' })
    const variables = { TOOLMOCK_TLS: '1', TOOLMOCK_PORT: new URL(serving.url).port }
    expect(await toolmock.run(['healthcheck'], variables)).toMatchObject({ code: 0, stderr: '' })
    await serving.stop()
  })
})

const { authority, cert, key } = await makeTemporaryCertificate(['mock.internal'], NOW)
const other = await makeTemporaryCertificate([], NOW)

describe('toolmock start --tls-cert --tls-key', () => {
  const file = (name: string, text: string): string => {
    writeFileSync(toolmock.path(name), text)
    return toolmock.path(name)
  }

  it('serves with those files and prints no authority', async () => {
    const serving = await toolmock.start([
      '--in-memory',
      '--tls-cert',
      file('cert.pem', cert),
      '--tls-key',
      file('key.pem', key),
    ])
    expect(await statusFor(serving.url, { ca: authority, servername: 'mock.internal' })).toBe(200)
    expect(await statusFor(serving.url, { ca: other.authority })).toMatch(/SIGNATURE|VERIFY/)
    expect((await serving.stop()).stdout).not.toContain('NODE_EXTRA_CA_CERTS')
  })

  it.each([
    [
      'a file that is not there',
      () => toolmock.path('none.pem'),
      () => file('key.pem', key),
      /none\.pem cannot be read: there is no such file/,
    ],
    [
      'no certificate',
      () => file('no-cert.pem', 'hello'),
      () => file('key.pem', key),
      /no-cert\.pem holds no certificate in PEM form/,
    ],
    [
      'an empty certificate',
      () => file('empty.pem', ''),
      () => file('key.pem', key),
      /empty\.pem holds no certificate in PEM form/,
    ],
    [
      'an empty key',
      () => file('cert.pem', cert),
      () => file('empty-key.pem', ''),
      /empty-key\.pem holds no private key in PEM form/,
    ],
    [
      'no key',
      () => file('cert.pem', cert),
      () => file('no-key.pem', cert),
      /no-key\.pem holds no private key in PEM form/,
    ],
    [
      "another certificate's key",
      () => file('cert.pem', cert),
      () => file('other.pem', other.key),
      /other\.pem holds not the key of the certificate in .*cert\.pem/,
    ],
  ])('refuses %s with 2 and one line that names it', async (_, certFile, keyFile, message) => {
    const { code, stdout, stderr } = await toolmock.run([
      'start',
      '--in-memory',
      '--port',
      '0',
      '--tls-cert',
      certFile(),
      '--tls-key',
      keyFile(),
    ])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
