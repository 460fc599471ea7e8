import { request as httpRequest } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { it } from './control-mock.ts'

it('GET / leads a browser to the dashboard', async ({ mock: { http } }) => {
  const answer = await http('get', '/').set('Accept', 'text/html,application/xhtml+xml,*/*;q=0.8')
  expect([answer.status, answer.headers.location]).toEqual([303, '_mock/ui'])
})

it('GET / answers programs what is served', async ({ mock: { http } }) => {
  const { status, body } = await http('get', '/').set('Host', 'localhost:8665')
  expect([status, body]).toEqual([
    200,
    {
      name: 'toolmock',
      version: expect.any(String),
      token: 'http://localhost:8665/oauth/token',
      api: 'http://localhost:8665/api/v1',
      proxy: 'http://localhost:8665/proxy',
      control: 'http://localhost:8665/_mock',
      control_description: 'http://localhost:8665/_mock/openapi',
      dashboard: 'http://localhost:8665/_mock/ui',
    },
  ])
})

it('GET /: names no proxy with --documented-only', async ({ startMock }) => {
  const { http } = await startMock({ documentedOnly: true })
  expect((await http('get', '/')).body).not.toHaveProperty('proxy')
})

describe('GET /_mock/ui', () => {
  it.for([
    ['/_mock/ui/', '"/_mock/ui"'],
    ['/_mock/ready/', '"/_mock/ready"'],
    ['/_mock/scenario', '"/_mock/scenarios"'],
  ])('%s is not served, and the answer names the path that was meant', async ([path, meant], { mock: { http } }) => {
    const { status, body } = await http('get', path)
    expect([status, (body as { error: { message: string } }).error.message]).toEqual([
      404,
      expect.stringContaining(`(did you mean ${meant}?)`),
    ])
  })

  it.for([
    ['/_mock/ui', 'text/html', '<div id="app">'],
    ['/_mock/ui/app.js', 'text/javascript', 'toolmock-admin-token'],
    ['/_mock/ui/app.js', 'text/javascript', 'clock-face'],
    ['/_mock/ui/editor.js', 'text/javascript', 'code-key'],
    ['/_mock/ui/stream.js', 'text/javascript', 'connect'],
    ['/_mock/ui/style.css', 'text/css', '--accent'],
  ])(
    '%s is %s under a policy without inline scripts, frames and markup from text',
    async ([path, type, part], { mock: { http } }) => {
      const { status, headers, text } = await http('get', path).buffer()
      expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([
        200,
        `${type}; charset=utf-8`,
        'nosniff',
      ])
      expect(text).toContain(part)
      const policy = String(headers['content-security-policy'])
      for (const directive of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        'trusted-types toolmock',
      ])
        expect(policy.split('; ')).toContain(directive)
      expect(policy).not.toContain('unsafe')
    },
  )

  it.for([
    ['icon.svg', 'image/svg+xml', '<svg'],
    ['geist.woff2', 'font/woff2', 'wOF2'],
    ['geist-mono.woff2', 'font/woff2', 'wOF2'],
  ])('%s comes from the server itself, as the policy asks', async ([name, type, start], { mock: { http } }) => {
    const { status, headers, body } = await http('get', `/_mock/ui/${name}`).responseType('blob')
    const { text } = await http('get', '/_mock/ui')
    expect([status, headers['content-type']]).toEqual([200, type])
    expect((body as Buffer).toString('latin1').slice(0, 4)).toBe(start)
    expect(String(headers['content-security-policy']).split('; ')).toEqual(
      expect.arrayContaining(["font-src 'self'", "img-src 'self'"]),
    )
    expect(text).toContain('<link rel="icon" href="ui/icon.svg" />')
  })

  it('answers 304 when the browser has the current version', async ({ mock: { http } }) => {
    const { etag } = (await http('get', '/_mock/ui/app.js')).headers
    expect((await http('get', '/_mock/ui/app.js').set('If-None-Match', String(etag))).status).toBe(304)
  })

  it('sends no more than 45,000 bytes of compressed scripts and style for everything but the editor', async ({
    mock: { app },
  }) => {
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    const bodies = await Promise.all(['app.js', 'style.css'].map((part) => compressed(`${url}/_mock/ui/${part}`)))
    expect(gunzipSync(bodies[0] ?? '').toString()).toContain('toolmock-admin-token')
    expect(bodies.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(45_000)
  })

  it('is refused under a host name that could be rebound', async ({ mock: { http } }) => {
    const { status, body } = await http('get', '/_mock/ui').set('Host', 'rebound.example')
    expect([status, (body as { error: { code: string } }).error.code]).toEqual([403, 'HOST_REFUSED'])
  })

  it('opens without the admin token, which its calls need', async ({ startMock }) => {
    const { http } = await startMock({ adminToken: 's3cret' })
    expect((await http('get', '/_mock/ui')).status).toBe(200)
    expect((await http('get', '/_mock/timeline')).status).toBe(401)
  })
})

/** The body without decompression. */
function compressed(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { headers: { 'Accept-Encoding': 'gzip' } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks)))
    })
    sent.on('error', reject)
    sent.end()
  })
}
