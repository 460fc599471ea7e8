import { openSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { measureRounds, type Sample, type Target } from '../rounds.ts'
import { freePort, ServerProcess } from '../server-process.ts'
import { medianOf, quotients, spreadOf } from '../statistics.ts'
import { bearer, type Served, servedAt } from '../toolmock.ts'
import { requestText } from '../wire.ts'
import { detailUrls } from './get-details.ts'

/**
 * What a line for each request costs a GET get-details, as a quotient of CPU for an answer: lines in a file against `--quiet`.
 * A second server with `--quiet` shows the noise of the machine.
 */
export async function requestLinesRow(bench: Bench): Promise<Results> {
  await using quiet = await serveInto('/dev/null', bench, ['--quiet'])
  await using again = await serveInto('/dev/null', bench, ['--quiet'])
  await using lines = await serveInto(join(bench.work, 'request-lines.log'), bench, [])
  const targets = {
    quiet: await detailsTarget(quiet),
    again: await detailsTarget(again),
    lines: await detailsTarget(lines),
  }
  const samples = await measureRounds(bench.generator, targets, { ...bench.scale, connections: 16 })
  return {
    figures: [
      { ...figure('a line for each GET get-details, in a file', samples.quiet, samples.lines), bar: 'request-lines' },
      figure('no line: `--quiet` beside `--quiet`', samples.quiet, samples.again),
    ],
    peers: [],
  }
}

async function serveInto(file: string, { cli, states }: Bench, flags: readonly string[]): Promise<Served> {
  const port = await freePort()
  const args = [cli, 'start', '--state', await states.copy(100), '--port', String(port), ...flags]
  const process = new ServerProcess({ args, stdout: openSync(file, 'w') })
  const url = `http://127.0.0.1:${port}`
  await process.answers(`${url}/_mock/ready`)
  return servedAt(process, url)
}

/** A server that gets requests for ten accounts in turn. */
export async function detailsTarget(server: Served): Promise<Target> {
  const headers = await bearer(server.url)
  const urls = await detailUrls(server.url, headers)
  return { ...server, requests: urls.map((each) => requestText(each, { headers })), statuses: [200] }
}

function figure(what: string, without: readonly Sample[], with_: readonly Sample[]): Figure {
  const cost = (samples: readonly Sample[]): number[] => samples.map(({ cpu }) => cpu)
  const text = (samples: readonly Sample[]): string => `${(medianOf(cost(samples)) * 1000).toFixed(1)} µs`
  return {
    what,
    accounts: 100,
    value: spreadOf(quotients(cost(without), cost(with_))),
    unit: '× quiet',
    detail: `${text(with_)} of CPU; quiet ${text(without)}`,
  }
}
