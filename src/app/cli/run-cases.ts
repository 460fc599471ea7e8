import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { AppOptions } from '../app.ts'
import { plural } from '../../model/domain/text.ts'
import { systemTime } from '../../state/model/time-and-ids.ts'
import type { CaseResult } from '../../journal/verdict/report-types.ts'
import type { Arguments } from './arguments.ts'
import type { Case } from './cases.ts'
import { caseReason, unmetExpectations } from './expectations.ts'
import { ExitError } from './failure.ts'
import type { DeferredLog } from './log.ts'
import { explainLine } from './run-journal.ts'
import { publishReports, VERDICT_FAILED } from './run-reports.ts'
import { type Running, serveWhile } from './serve-while.ts'
import { runOptions } from './server-options.ts'
import { firstDifference, transcriptOf } from './transcript.ts'
import type { VerdictItem } from '../../journal/verdict/report-pair.ts'

/** Where the clock of a case is frozen that does not say it: a constant, so that a run tomorrow is equal to one today. */
const CLOCK = '2026-01-01T00:00:00.000Z'

interface RunningCases extends Running {
  /** Where the output of commands that run at the same time waits for their end; undefined where one runs at a time. */
  readonly folder: string | undefined
}

type CaseRun = Awaited<ReturnType<typeof runCase>>

/** Runs the command once for each case, each beside a mock of its own, and judges them: 3 when one fails. */
export async function runCases(cases: readonly Case[], running: Running): Promise<number> {
  const { log, commands } = running
  const { values } = running.given
  const { parallel, repeat } = values
  const folder = parallel > 1 ? await mkdtemp(join(tmpdir(), 'toolmock-output-')) : undefined
  try {
    const jobs = Array.from({ length: repeat }, (_, nth) => cases.map((each) => ({ each, nth }))).flat()
    const assertNotStopped = (): void => {
      if (commands.stopped === undefined) return
      throw new ExitError('a signal came before all cases had ended', commands.stopped)
    }
    const runs = await atMost(parallel, jobs, async ({ each, nth }) => {
      assertNotStopped()
      return await runCase(each, nth, { ...running, folder })
    })
    log.flush()
    const all = cases.map((each, at) => ({ each, runs: runs.filter((_, job) => job % cases.length === at) }))
    assertNotStopped()
    return await concludeCases(all, running)
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Works on so many jobs at a time; results are in the order of the jobs. The first failure lets no more of them begin. */
async function atMost<Job, Result>(
  count: number,
  jobs: readonly Job[],
  work: (job: Job) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = jobs.entries()
  let failure: { readonly error: unknown } | undefined
  const worker = async (): Promise<void> => {
    for (const [at, job] of waiting) {
      if (failure) return
      await work(job).then(
        (result) => (results[at] = result),
        (error: unknown) => (failure ??= { error }),
      )
    }
  }
  await Promise.all(Array.from({ length: count }, worker))
  if (failure) throw failure.error
  return results
}

async function runCase(each: Case, nth: number, running: RunningCases) {
  const { given, context, options, log, folder } = running
  const began = systemTime()
  const output = folder === undefined ? undefined : join(folder, `${each.name}.${nth}`)
  const taken = output === undefined ? undefined : openSync(output, 'w')
  const variables = { ...context.variables, ...each.env, TOOLMOCK_CASE: each.name }
  const { end, services, reports, journal } = await serveWhile(caseOptions(each, given, log), running, variables, {
    journalOf: (file) => journalFile(file, each, nth),
    output: taken,
  }).finally(() => {
    if (taken !== undefined) closeSync(taken)
  })
  const text = output === undefined ? '' : readFileSync(output, 'utf8').trimEnd()
  if (text !== '') context.out(`--- ${each.name}${nth === 0 ? '' : `, run ${nth + 1}`}\n${text}`)
  const { verdictOf } = await import('../../journal/verdict/verdict.ts')
  // Minima and allowances are about all cases together. A case that expects no request at all is judged by that.
  const isSilent = each.expect.never.some((match) => Object.keys(match).length === 0)
  const requireRequests = options.requireRequests === true && !isSilent
  const verdict = verdictOf(reports, { ...options, requireRequests, perTest: true })
  const reasons: readonly VerdictItem[] = [
    ...(end.code === 0 ? [] : [caseReason('command', end.failure)]),
    ...verdict.reasons.filter(({ code }) => code !== 'coverage' && code !== 'unused_allowance'),
    ...(await unmetExpectations(each.expect, services)),
  ]
  const explain = await explainLine({ ...verdict, reasons }, reasons.length === 0 ? 0 : VERDICT_FAILED, journal)
  return {
    reports,
    reasons,
    explain,
    transcript: transcriptOf(services),
    requests: verdict.requests,
    duration: systemTime() - began,
  }
}

/** The mock of a case is that of `run`: what the case says wins over flags. */
function caseOptions(each: Case, args: Arguments<'run'>, log: DeferredLog): AppOptions {
  const { values } = args
  const { name: label, file, line } = each
  return {
    ...runOptions(args, log),
    seeds: each.seed,
    scenarios: each.scenario,
    extensions: each.extension,
    clock: each.clock ?? values.clock ?? CLOCK,
    freeze: args.setBy.has('freeze') ? values.freeze : true,
    idSeed: each.id_seed ?? values['id-seed'] ?? 1,
    test: { label, file, line },
  }
}

/** Each run of a case has a journal of its own: requests of different cases have the same ids. */
function journalFile(file: string, { name }: Case, nth: number): string {
  const ending = extname(file)
  return `${file.slice(0, file.length - ending.length)}.${name}${nth === 0 ? '' : `.${nth + 1}`}${ending}`
}

interface RunsOfCase {
  readonly each: Case
  readonly runs: readonly CaseRun[]
}

/** Writes one verdict on all cases, which fails by each reason of each of them; answers the exit code. */
async function concludeCases(all: readonly RunsOfCase[], { context, options, files }: Running): Promise<number> {
  const [{ judgeReports: judge }, { mergeReports }] = await Promise.all([
    import('../../journal/verdict/verdict.ts'),
    import('../../journal/verdict/merge-reports.ts'),
  ])
  const cases = all.map(caseResult)
  // Equal runs have equal reports.
  const [first, ...others] = all.flatMap(({ runs: [run] }) => run?.reports ?? [])
  if (!first) throw new Error('there is no case')
  const judged = judge({ ...mergeReports([first, ...others]), cases }, options)
  const failed = cases.filter(({ ok }) => !ok)
  const often = all[0] && all[0].runs.length > 1 ? `, ${all[0].runs.length} times each` : ''
  const passed = cases.length - failed.length
  const after = [`${plural(cases.length, 'case')}${often}: ${passed} passed, ${failed.length} failed`]
  const explain = all.flatMap(({ each, runs }) => {
    const { explain: lines = [] } = runs.find((run) => run.explain.length > 0) ?? {}
    return lines.map((line) => `${each.name}: ${line}`)
  })
  const code = judged.verdict.ok ? 0 : VERDICT_FAILED
  return publishReports(judged, { code, before: [], after, explain: explain.slice(0, EXPLAINED) }, context, files)
}

/** How many cases are explained where a verdict ends. */
const EXPLAINED = 5

/** The reasons of the first run, those that later runs have beside them, and how they differ from it. */
function caseResult({ each: { name, file, line }, runs }: RunsOfCase): CaseResult {
  const [first, ...others] = runs
  if (!first) throw new Error(`the case ${name} did not run`)
  const reasons = new Map<string, VerdictItem>()
  for (const reason of runs.flatMap((run) => run.reasons)) {
    const key = `${reason.code} ${reason.sentence}`
    if (!reasons.has(key)) reasons.set(key, reason)
  }
  const differences = others.flatMap((run, at) => {
    const difference = firstDifference(first.transcript, run.transcript)
    if (!difference) return []
    const details = [`run 1: ${difference.one}`, `run ${at + 2}: ${difference.other}`]
    return [caseReason('transcript', `run ${at + 2} differs from run 1 at ${difference.about}`, details)]
  })
  const all = [...reasons.values(), ...differences.slice(0, 1)]
  return {
    name,
    file,
    line,
    ok: all.length === 0,
    reasons: all,
    requests: first.requests,
    duration_ms: Math.round(runs.reduce((sum, { duration }) => sum + duration, 0)),
    transcript: createHash('sha256').update(first.transcript.join('\n')).digest('hex'),
  }
}
