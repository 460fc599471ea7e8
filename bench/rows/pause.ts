import { readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { PAUSE_PROBE, startBare } from '../bare.ts'
import { BARS } from '../bars.ts'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { NUMBER } from '../load/plan.ts'
import { Asker, type Target } from '../rounds.ts'
import { spreadOf } from '../statistics.ts'
import { bearer, type Served, startToolmock } from '../toolmock.ts'
import { requestText } from '../wire.ts'
import { createQuestion } from './create.ts'
import { detailUrls } from './get-details.ts'

interface Pauses {
  /** As the clock saw it. */
  pause: number
  /** What of it the process itself computed. */
  busy: number
}

const ACCOUNTS = 100_000
const LIST = '/api/v1/connected_accounts'
/** One look at the probe; a shorter one is enough to see how long the machine itself stands still. */
const SLICE = 1000
const MACHINE_SLICE = 400

/** How long the event loop stands still at most, under mixed load and while the state file is written anew. */
export async function pauseRow(bench: Bench): Promise<Results> {
  const state = await bench.states.copy(ACCOUNTS)
  const probe = { nodeFlags: ['--import', pathToFileURL(PAUSE_PROBE).href] }
  const [oursFile, bareFile] = [join(dirname(state), 'pauses'), join(dirname(state), 'bare-pauses')]
  await using ours = await startToolmock({ cli: bench.cli, state, ...probe, env: { PAUSE_PROBE_FILE: oursFile } })
  await using bare = await startBare({ status: 200 }, { ...probe, env: { PAUSE_PROBE_FILE: bareFile } })
  const mixed: Target = { ...ours, requests: await mixedRequests(ours.url), statuses: [200, 201] }
  const slices = Math.max(3, Math.round(bench.scale.pauseMilliseconds / SLICE))
  const asker = new Asker(bench.generator, { connections: 32, milliseconds: SLICE })
  const bareAsker = new Asker(bench.generator, { connections: 32, milliseconds: MACHINE_SLICE })
  const seen: Record<'ours' | 'bare' | 'checkpointing', Pauses[]> = { ours: [], bare: [], checkpointing: [] }
  for (let slice = 0; slice <= slices; slice++) {
    const [own, machine] = [
      await slicePauses(asker, mixed, oursFile),
      await slicePauses(bareAsker, { ...mixed, ...bare }, bareFile),
    ]
    if (slice > 0) seen.ours.push(own)
    if (slice > 0) seen.bare.push(machine)
  }
  seen.checkpointing.push(...(await duringCheckpoint(bench, { ours, asker, state, file: oursFile })))
  bench.states.remove(state)
  return { figures: figuresOf(seen, slices), peers: [] }
}

async function mixedRequests(url: string): Promise<string[]> {
  const headers = await bearer(url)
  const create = requestText(`${url}${LIST}`, await createQuestion(url, NUMBER))
  const get = (path: string): string => requestText(`${url}${path}`, { headers })
  return [
    create,
    get(LIST),
    get(`${LIST}?page_size=100`),
    get(`${LIST}:search?query=example`),
    get(`${LIST}:search?query=smith`),
    create,
    ...(await detailUrls(url, headers)).slice(0, 3).map((each) => requestText(each, { headers })),
  ]
}

async function slicePauses(asker: Asker, target: Target, file: string): Promise<Pauses> {
  await readProbe(target, file)
  await asker.sample(target)
  return readProbe(target, file)
}

/** Asks the probe for what it saw since it was asked before. */
async function readProbe({ process: { pid } }: Pick<Served, 'process'>, file: string): Promise<Pauses> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    await wait(5)
    const text = statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8') : ''
    if (text.endsWith('}')) return JSON.parse(text) as Pauses
  }
}

interface Checkpointing {
  ours: Served
  asker: Asker
  state: string
  file: string
}

/** Creates until the journal has grown past its bound and the state file is another one; the slice in which that was. */
async function duringCheckpoint(bench: Bench, { ours, asker, state, file }: Checkpointing): Promise<Pauses[]> {
  const target = {
    ...ours,
    requests: [requestText(`${ours.url}${LIST}`, await createQuestion(ours.url, NUMBER))],
    statuses: [201],
  }
  const before = statSync(state).ino
  const until = performance.now() + bench.scale.checkpointWithin
  const seen: Pauses[] = []
  while (performance.now() < until) {
    seen.push(await slicePauses(asker, target, file))
    if (statSync(state).ino === before) continue
    // The file is written over several slices; those before its end belong to it.
    return seen.slice(-10)
  }
  return []
}

function figuresOf(seen: Record<'ours' | 'bare' | 'checkpointing', Pauses[]>, slices: number): Figure[] {
  const machine = Math.max(...seen.bare.map(({ pause }) => pause))
  const checkpointed = seen.checkpointing.length > 0
  const figure = (what: string, pauses: readonly Pauses[]): Figure => pauseFigure(what, pauses, machine)
  const what = `longest pause, ${slices} s of mixed load${checkpointed ? ' and a checkpoint' : ', no checkpoint'}`
  return [
    { bar: 'pause', ...figure(what, [...seen.ours, ...seen.checkpointing]) },
    ...(checkpointed ? [figure('longest pause during a checkpoint', seen.checkpointing)] : []),
  ]
}

/** A pause is as bad as the longest one. Where the machine itself stands still for longer than the bar, only computing counts. */
function pauseFigure(what: string, pauses: readonly Pauses[], machine: number): Figure {
  const crowded = machine > BARS.pause.bar
  const values = pauses.map(({ pause, busy }) => (crowded ? busy : pause))
  const spread = spreadOf(values)
  const busy = Math.max(...pauses.map((each) => each.busy))
  return {
    what,
    accounts: ACCOUNTS,
    value: { ...spread, median: spread.max },
    unit: 'ms',
    detail: [
      `${busy.toFixed(1)} ms of it computing`,
      `a bare server pauses for ${machine.toFixed(1)} ms on this machine`,
      ...(crowded ? ['so only what was computed is judged'] : []),
    ].join('; '),
  }
}
