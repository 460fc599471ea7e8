import { connect, type Socket } from 'node:net'
import { AnswerParser } from './load/answer-parser.ts'
import { type LoadPlan, type LoadResult, NUMBER } from './load/plan.ts'

// The process that generates load: keep-alive connections, each with one request under way at a time. It uses raw sockets,
// because Node's own HTTP client costs more than the measured servers.

process.on('message', (plan: LoadPlan) => {
  run(plan).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})

async function run(plan: LoadPlan): Promise<LoadResult> {
  const source = new Requests(plan)
  const sockets = await Promise.all(Array.from({ length: plan.connections }, () => open(plan.port)))
  const cpu = process.cpuUsage()
  const from = performance.now()
  const counts = await Promise.all(
    sockets.map((socket) => sendUntil(socket, { plan, source, until: from + plan.milliseconds })),
  )
  const seconds = (performance.now() - from) / 1000
  const { user, system } = process.cpuUsage(cpu)
  for (const socket of sockets) socket.destroy()
  return {
    answers: counts.reduce((sum, { answers }) => sum + answers, 0),
    seconds,
    generatorSeconds: (user + system) / 1e6,
    nextNumber: source.nextNumber,
    slowestMilliseconds: Math.max(...counts.map(({ slowest }) => slowest)),
  }
}

/** The bytes of the requests of a plan, in turn. */
class Requests {
  readonly #templates: { bytes: Buffer; at: number }[]
  #turn = 0
  nextNumber: number

  constructor({ requests, firstNumber }: LoadPlan) {
    this.#templates = requests.map((text) => ({ bytes: Buffer.from(text), at: Buffer.from(text).indexOf(NUMBER) }))
    this.nextNumber = firstNumber
  }

  next(): Buffer {
    const template = this.#templates[this.#turn++ % this.#templates.length]
    if (!template) throw new Error('the plan has no request')
    if (template.at < 0) return template.bytes
    const bytes = Buffer.from(template.bytes)
    bytes.write(String(this.nextNumber++).padStart(NUMBER.length, '0'), template.at, 'latin1')
    return bytes
  }
}

interface ConnectionLoad {
  plan: LoadPlan
  source: Requests
  until: number
}

/** Sends requests until the time is over. Fails at the first answer with an unexpected status. */
function sendUntil(
  socket: Socket,
  { plan, source, until }: ConnectionLoad,
): Promise<{ answers: number; slowest: number }> {
  return new Promise((resolve, reject) => {
    let [answers, slowest, sentAt] = [0, 0, performance.now()]
    const interval = plan.perSecond === undefined ? 0 : (plan.connections / plan.perSecond) * 1000
    let due = sentAt + Math.random() * interval
    const send = (): void => {
      sentAt = performance.now()
      socket.write(source.next())
    }
    const parser = new AnswerParser((status) => {
      const now = performance.now()
      slowest = Math.max(slowest, now - sentAt)
      answers++
      due += interval
      if (!plan.statuses.includes(status)) reject(new Error(`answered ${status}, not ${plan.statuses.join(' or ')}`))
      else if (now >= until) resolve({ answers, slowest })
      else if (due > now) setTimeout(send, due - now)
      else send()
    })
    socket.on('data', (chunk: Buffer) => parser.feed(chunk))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    send()
  })
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.on('error', reject)
  })
}
