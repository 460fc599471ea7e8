import { readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { PAUSE_PROBE, startBare } from '../bare.ts'
import { BARS } from '../bars.ts'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { NUMBER } from '../load/plan.ts'
import { LoadSampler, type Target } from '../rounds.ts'
import { spreadOf } from '../statistics.ts'
import { bearer, type Served, startToolmock } from '../toolmock.ts'
import { requestText } from '../wire.ts'
import { createAccountRequest } from './create.ts'
import { detailUrls } from './get-details.ts'

/** The longest pauses in milliseconds. */
interface Pauses {
  /** In real time. */
  pause: number
  /** In CPU time of the process. */
  busy: number
}

const ACCOUNTS = 100_000
const LIST = '/api/v1/connected_accounts'
/** The time between two readings of the probe. The bare server, which shows the machine's own pauses, needs less. */
const SLICE = 1000
const MACHINE_SLICE = 400

/** The longest pause of the event loop, under mixed load and during a checkpoint. */
export async function pauseRow(bench: Bench): Promise<Results> {
  const state = await bench.states.copy(ACCOUNTS)
  const probe = { nodeFlags: ['--import', pathToFileURL(PAUSE_PROBE).href] }
  const [oursFile, bareFile] = [join(dirname(state), 'pauses'), join(dirname(state), 'bare-pauses')]
  await using ours = await startToolmock({ cli: bench.cli, state, ...probe, env: { PAUSE_PROBE_FILE: oursFile } })
  await using bare = await startBare({ status: 200 }, { ...probe, env: { PAUSE_PROBE_FILE: bareFile } })
  const mixed: Target = { ...ours, requests: await mixedRequests(ours.url), statuses: [200, 201] }
  const slices = Math.max(3, Math.round(bench.scale.pauseMilliseconds / SLICE))
  const sampler = new LoadSampler(bench.generator, { connections: 32, milliseconds: SLICE })
  const bareSampler = new LoadSampler(bench.generator, { connections: 32, milliseconds: MACHINE_SLICE })
  const seen: Record<'ours' | 'bare' | 'checkpointing', Pauses[]> = { ours: [], bare: [], checkpointing: [] }
  for (let slice = 0; slice <= slices; slice++) {
    const [own, machine] = [
      await slicePauses(sampler, mixed, oursFile),
      await slicePauses(bareSampler, { ...mixed, ...bare }, bareFile),
    ]
    if (slice > 0) seen.ours.push(own)
    if (slice > 0) seen.bare.push(machine)
  }
  seen.checkpointing.push(...(await duringCheckpoint(bench, { ours, sampler, state, file: oursFile })))
  bench.states.remove(state)
  return { figures: figuresOf(seen, slices), peers: [] }
}

async function mixedRequests(url: string): Promise<string[]> {
  const headers = await bearer(url)
  const create = requestText(`${url}${LIST}`, await createAccountRequest(url, NUMBER))
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

async function slicePauses(sampler: LoadSampler, target: Target, file: string): Promise<Pauses> {
  await readProbe(target, file)
  await sampler.sample(target)
  return readProbe(target, file)
}

/** Reads the longest pauses since the last reading of the probe. */
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
  sampler: LoadSampler
  state: string
  file: string
}

/** Creates accounts until a checkpoint has replaced the state file. Returns the pauses of the last ten slices. */
async function duringCheckpoint(bench: Bench, { ours, sampler, state, file }: Checkpointing): Promise<Pauses[]> {
  const target = {
    ...ours,
    requests: [requestText(`${ours.url}${LIST}`, await createAccountRequest(ours.url, NUMBER))],
    statuses: [201],
  }
  const before = statSync(state).ino
  const until = performance.now() + bench.scale.checkpointWithin
  const seen: Pauses[] = []
  while (performance.now() < until) {
    seen.push(await slicePauses(sampler, target, file))
    if (statSync(state).ino === before) continue
    // A checkpoint takes several slices; these are the last ones.
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

/** The figure is the longest pause. Where a bare server pauses for longer than the bar, only CPU time counts. */
function pauseFigure(what: string, pauses: readonly Pauses[], machine: number): Figure {
  const isMachineBusy = machine > BARS.pause.bar
  const values = pauses.map(({ pause, busy }) => (isMachineBusy ? busy : pause))
  const spread = spreadOf(values)
  const busy = Math.max(...pauses.map((each) => each.busy))
  return {
    what,
    accounts: ACCOUNTS,
    value: { ...spread, median: spread.max },
    unit: 'ms',
    detail: [
      `at most ${busy.toFixed(1)} ms of CPU`,
      `a bare server pauses for ${machine.toFixed(1)} ms on this machine`,
      ...(isMachineBusy ? ['so only CPU time counts'] : []),
    ].join('; '),
  }
}
