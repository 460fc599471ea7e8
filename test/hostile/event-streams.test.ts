import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { withServer } from './server.ts'

async function answerTo(url: string): Promise<IncomingMessage> {
  const request = get(url)
  request.on('error', () => undefined)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined)
  return answer
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of answer.setEncoding('utf8')) text += String(piece)
  return text
}

it('answer 503 beyond the limit, which both kinds share, until one of them is closed', async () => {
  await withServer({ eventStreams: 2 }, async ({ url }) => {
    const events = await answerTo(`${url}/_mock/events`)
    const timeline = await answerTo(`${url}/_mock/timeline`)
    expect([events.statusCode, timeline.statusCode]).toEqual([200, 200])
    for (const path of ['/_mock/events', '/_mock/timeline']) {
      const refused = await answerTo(url + path)
      expect(refused.statusCode).toBe(503)
      expect(JSON.parse(await textOf(refused))).toEqual({
        error: {
          code: 'TOO_MANY_STREAMS',
          message: '2 event streams are open, and no more may be; close one of them',
          details: [],
        },
      })
    }
    timeline.destroy()
    await expect.poll(async () => (await answerTo(`${url}/_mock/events`)).statusCode).toBe(200)
    events.destroy()
  })
})

it.each(['events', 'timeline'])('HEAD /_mock/%s counts as none', async (name) => {
  await withServer({ eventStreams: 1 }, async ({ url }) => {
    for (let each = 0; each < 3; each++) {
      expect((await fetch(`${url}/_mock/${name}`, { method: 'HEAD' })).status).toBe(200)
    }
    const stream = await answerTo(`${url}/_mock/${name}`)
    expect(stream.statusCode).toBe(200)
    stream.destroy()
  })
})

it('that are open at once cause no warning of Node.js', async () => {
  const warnings: string[] = []
  const note = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', note)
  await withServer({}, async ({ url }) => {
    const streams = await Promise.all(Array.from({ length: 12 }, () => answerTo(`${url}/_mock/events`)))
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200))
    for (const stream of streams) stream.destroy()
  })
  process.off('warning', note)
  expect(warnings).toEqual([])
})
