import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { pinned } from '../../bench/pinning.ts'
import { ARGUMENTS } from '../browser/browser.ts'
import { CHROMIUM } from '../support/machine.ts'
import { load, MeasuredServer } from './server.ts'

/*
 * `npm run test:long -- --minutes 10 --rate 500` sends 500 requests a second with the dashboard open. The memory and the nodes
 * of the page and the memory of the server must stop growing. At full speed, a request may cost the server at most a tenth more than without a dashboard.
 * It needs the build (`npm run build`), and is not part of `npm test`.
 */

const FULL_SPEED = 1_000_000
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, rate: { type: 'string', default: '500' } },
})
const rate = Number(values.rate)
const seconds = Number(values.minutes) * 60
const samples = 10

// A server that shares its core with the browser loses its caches to it, and a request costs it more.
pinned.generator(process.pid)
const server = await MeasuredServer.start()
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS })
const problems: string[] = []
try {
  // Fills the journal and lets the engine compile the code before the measurement.
  await load(server, rate, 25)
  const without = await cost()
  const page = await browser.newPage()
  await page.goto(`${server.url}/_mock/ui#/timeline`)
  await page.locator('.line').first().waitFor()
  const session = await page.context().newCDPSession(page)
  const sizes: { readonly page: number; readonly server: number; readonly nodes: number }[] = []
  let sent = 0
  for (let at = 0; at < samples; at++) {
    sent += await load(server, rate, seconds / samples)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    const { nodes } = await session.send('Memory.getDOMCounters')
    sizes.push({ page: usedSize / 2 ** 20, server: server.memory, nodes })
    console.log(
      `${at + 1}/${samples}: page ${show(usedSize / 2 ** 20)} MB and ${nodes} nodes, server ${show(server.memory)} MB`,
    )
  }
  const newest = await page.locator('.line').first().innerText()
  if (!newest.includes('get_connected_account_details')) problems.push(`the page shows ${newest}`)
  for (const what of ['page', 'server', 'nodes'] as const)
    checkGrowth(
      what,
      sizes.map((sample) => sample[what]),
    )
  const withOne = await cost()
  const loss = withOne / without - 1
  const costs = `${show(without)} µs without a dashboard, ${show(withOne)} µs with one: ${show(loss * 100)} % more`
  console.log(`a request costs the server ${costs}; ${show(sent / seconds)} requests a second`)
  if (loss > 0.1) problems.push('a request costs more than a tenth more with a dashboard')
} finally {
  await browser.close()
  await server.stop()
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

/** Processor time in microseconds of a request at full speed. Other load on the machine affects it less than throughput. */
async function cost(): Promise<number> {
  const before = server.processorTime
  const sent = await load(server, FULL_SPEED, 10)
  return ((server.processorTime - before) / sent) * 1e6
}

/** The second half may have at most a tenth and five megabytes or nodes more than the first. */
function checkGrowth(what: string, sizes: readonly number[]): void {
  const half = sizes.length / 2
  const [first, second] = [Math.max(...sizes.slice(0, half)), Math.max(...sizes.slice(half))]
  if (second > first * 1.1 + 5) problems.push(`${what} grows: ${show(first)}, then ${show(second)}`)
}

function show(value: number): string {
  return value.toFixed(1)
}
