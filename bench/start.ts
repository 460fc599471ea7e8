import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { createInterface } from 'node:readline'

// `npx tsx bench/start.ts [ROUNDS]`: from the start of the process to the first 200, against a bare node:http process that is
// measured in turn with ours, because the machine's own speed drifts. Needs `npm run build`.

const BARE = `const server = require('node:http').createServer((_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end('{"status":"ready"}')
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: 'http://127.0.0.1:' + server.address().port })))`

const CANDIDATES = {
  bare: ['-e', BARE],
  toolmock: ['dist/cli.js', 'start', '--in-memory', '--port', '0', '--json'],
}
type Candidate = keyof typeof CANDIDATES

const rounds = Number(process.argv[2] ?? 25)
const samples: Record<Candidate, number[]> = { bare: [], toolmock: [] }
for (let round = 0; round < rounds; round++) {
  for (const name of ['bare', 'toolmock'] as const) samples[name].push(await timeToReady(CANDIDATES[name]))
}
const [bare, toolmock] = [median(samples.bare), median(samples.toolmock)]
console.log(`bare ${bare.toFixed(1)} ms, toolmock ${toolmock.toFixed(1)} ms, ratio ${(toolmock / bare).toFixed(2)}`)

async function timeToReady(args: readonly string[]): Promise<number> {
  const from = performance.now()
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(server, 'exit')
  try {
    const { url } = JSON.parse(await firstLine(server)) as { url: string }
    await ready(`${url}/_mock/ready`)
    return performance.now() - from
  } finally {
    server.kill()
    await exit
  }
}

async function firstLine(server: ChildProcess): Promise<string> {
  if (!server.stdout) throw new Error('the server has no stdout')
  const [line] = (await once(createInterface(server.stdout), 'line')) as [string]
  return line
}

function ready(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume()
      if (response.statusCode === 200) resolve()
      else reject(new Error(`${url} answers ${response.statusCode ?? 0}`))
    })
    request.on('error', reject)
  })
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
