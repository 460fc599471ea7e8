import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { pretty } from '../.build/generate/pretty.ts'
import { type Bench, FULL, QUICK } from './bench.ts'
import { benchmarksDocument } from './benchmarks-document.ts'
import type { Results } from './figure.ts'
import { LoadGenerator } from './load.ts'
import { machineLine, machineOf } from './machine.ts'
import { fingerprint, installPacked } from './package-install.ts'
import { Peers } from './peers/peers.ts'
import { createRow } from './rows/create.ts'
import { dashboardRow } from './rows/dashboard.ts'
import { executeToolRow } from './rows/execute-tool.ts'
import { getDetailsRow } from './rows/get-details.ts'
import { libraryRow } from './rows/library.ts'
import { mcpRow } from './rows/mcp.ts'
import { packageRow } from './rows/package.ts'
import { itemsRow, pagesRow } from './rows/pages.ts'
import { requestLinesRow } from './rows/request-lines.ts'
import { resetRow } from './rows/reset.ts'
import { startRow } from './rows/start.ts'
import { tokenRow } from './rows/token.ts'
import { StateFiles } from './state-files.ts'
import { figureTable, missedBars, peerTable } from './table.ts'

// `npm run bench` measures every bar of the product in one run. `--quick`: fewer and shorter rounds, one of each peer.
// `--no-peers`: only toolmock. `--no-build`: measures `dist/` as it is. `--only start,create`: these rows. `--write`: writes
// docs/benchmarks.md. It reads /proc, so it runs on Linux only.

const ROWS: Readonly<Record<string, (bench: Bench) => Results | Promise<Results>>> = {
  start: startRow,
  library: libraryRow,
  'get-details': getDetailsRow,
  'request-lines': requestLinesRow,
  dashboard: dashboardRow,
  create: createRow,
  pages: pagesRow,
  items: itemsRow,
  'execute-tool': executeToolRow,
  mcp: mcpRow,
  reset: resetRow,
  token: tokenRow,
  package: packageRow,
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCUMENT = 'docs/benchmarks.md'

const { values: flags } = parseArgs({
  allowNegative: true,
  options: {
    quick: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: true },
    write: { type: 'boolean', default: false },
    build: { type: 'boolean', default: true },
    only: { type: 'string', default: Object.keys(ROWS).join(',') },
  },
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const cache = join(tmpdir(), 'toolmock-bench')
mkdirSync(cache, { recursive: true })
const work = mkdtempSync(join(cache, 'run-'))
process.once('exit', () => rmSync(work, { recursive: true, force: true }))

const machine = machineLine(machineOf(work))
// Neither is measured, so they run at the same time.
const [peers] = await Promise.all([
  flags.peers ? Peers.install({ folder: join(cache, 'peers'), spec: join(ROOT, 'spec/openapi.yaml') }) : undefined,
  flags.build ? promisify(execFile)('npm', ['run', 'build'], { cwd: ROOT, maxBuffer: Infinity }) : undefined,
])
const results = await measured()
await report(results)

async function measured(): Promise<Results & { notes: string[] }> {
  const product = await installPacked(ROOT, join(work, 'product'))
  const cli = join(product.folder, 'dist/cli.js')
  const states = new StateFiles({
    cli,
    cache: join(cache, `states-${fingerprint(join(product.folder, 'dist'))}`),
    work,
  })
  const generator = await LoadGenerator.start()
  const bench: Bench = { scale: flags.quick ? QUICK : FULL, product, cli, states, work, generator, peers }
  const all: Results = { figures: [], peers: [] }
  try {
    for (const name of flags.only.split(',')) {
      const row = ROWS[name]
      if (!row) throw new Error(`there is no row ${name}; the rows are ${Object.keys(ROWS).join(', ')}`)
      const from = performance.now()
      const { figures, peers: cells } = await row(bench)
      all.figures.push(...figures)
      all.peers.push(...cells)
      console.error(`${name}: ${((performance.now() - from) / 1000).toFixed(0)} s`)
    }
  } finally {
    generator.stop()
    await peers?.stop()
  }
  return { ...all, notes: peers ? peerNotes(peers) : [] }
}

function peerNotes({ installed, absent }: Peers): string[] {
  return [
    [...installed].map(([name, { version }]) => `${name} ${version}`).join(', '),
    ...[...absent].map(([name, why]) => `${name} could not be installed: ${why}`),
  ].filter((note) => note !== '')
}

async function report({ figures, peers, notes }: Results & { notes: string[] }): Promise<void> {
  const tables = { figures: figureTable(figures), peers: notes.length === 0 ? '' : peerTable(peers) }
  const missed = missedBars(figures)
  console.log([machine, tables.figures, tables.peers, ...notes].filter((part) => part !== '').join('\n\n'))
  console.log(missed.length === 0 ? '\nno bar is missed' : `\nmissed: ${missed.join(', ')}`)
  if (!flags.write) return
  const path = join(ROOT, DOCUMENT)
  const command = `npm run bench${flags.quick ? ' -- --quick' : ''}`
  const run = { date: new Date().toISOString().slice(0, 10), machine, command, ...tables, notes, missed }
  const text = benchmarksDocument(run, existsSync(path) ? readFileSync(path, 'utf8') : '')
  writeFileSync(path, await pretty(ROOT, DOCUMENT, text))
  console.log(`written: ${DOCUMENT}`)
}
