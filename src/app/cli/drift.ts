import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { AppOptions } from '../app.ts'
import { documentText } from '../../files/document-text.ts'
import { DocumentError } from '../../files/problem.ts'
import { locatedProblems } from '../../files/read.ts'
import { readTextFile } from '../../files/text-files.ts'
import { SourceText } from '../../files/source-text.ts'
import { mayBeCalled } from '../../model/domain/base-url.ts'
import { type JsonObject, jsonText, parsedJson } from '../../model/domain/json.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { type Exchange, exchangesOf, harSchema } from '../../compare/drift/har.ts'
import { settingsThatFix } from '../../compare/drift/remedies.ts'
import { type Accepted, acceptedReport, driftIn, type DriftReport } from '../../compare/drift/report.ts'
import { findDrift as compare, type MockOptions, PREFIX } from '../../compare/drift/run.ts'
import { nonEmpty, strict } from '../../model/schema/parts.ts'
import { problemsOf, problemSentence } from '../../model/schema/problems.ts'
import { RandomIds } from '../../state/model/time-and-ids.ts'
import { VERSION } from '../../model/version.ts'
import type { Arguments } from './arguments.ts'
import type { Run } from './command.ts'
import { UsageError } from './failure.ts'
import type { FlagValues } from './command-table.ts'
import { createLog } from './log.ts'
import { withApp } from './serve-while.ts'
import { serviceOf } from './service.ts'
import { StopRequest } from './stop.ts'
import { writeOver } from '../../platform/disk/written-file.ts'

/** Answers 0 without findings, 1 with some of `--fail-on`, 3 when something could not be removed from the service. */
export const driftCommand: Run<'drift'> = async (read, context) => {
  const { values, setBy } = read
  const { out, err, progress } = context
  const { baseUrl, client } = serviceOf('drift', context, values)
  if (!mayBeCalled(baseUrl, values['allow-outbound']))
    throw new UsageError(`${baseUrl} is not on loopback: --allow-outbound allows requests to it.`)
  const accepted = values.accept === undefined ? [] : await readAccepted(values.accept)
  const recording = values.recording === undefined ? undefined : await readRecording(values.recording)
  using stop = new StopRequest()
  const { report: driftReport, leftovers } = await compare({
    ...{ baseUrl, client, recording, progress, signal: stop.signal },
    prefix: `${PREFIX}${new RandomIds().id('x').slice(2, 12)}`,
    withMock: (options, use) => withMock(read, options, err, use),
    mirror: !setBy.has('seed'),
    allowWrites: values['allow-writes'],
    only: values.only,
    controlApi: values.consent === 'control-api',
    adminToken: values['admin-token'],
  })
  progress?.('')
  const report = acceptedReport(driftReport, accepted, recording ? undefined : values.only)
  out(driftIn(values.format, report, VERSION))
  if (values['write-settings'] !== undefined) await writeOver(values['write-settings'], settingsText(report))
  for (const each of leftovers) err(`toolmock: could not be removed from ${baseUrl}: ${each}`)
  if (leftovers.length > 0) return 3
  if (stop.signal.aborted) throw new StartError('the run was interrupted; what it had created was removed')
  return isFailed(report, values['fail-on']) ? 1 : 0
}

function isFailed({ summary }: DriftReport, failOn: FlagValues<'drift'>['fail-on']): boolean {
  if (failOn === 'none') return false
  return summary.contract > 0 || (failOn === 'mock' && summary.mock > 0)
}

/** Serves a mock with these choices, the client of the service, and the seed that was asked for or `seed`. */
async function withMock<Result>(
  read: Arguments<'drift'>,
  { choices: { settings = {}, configuration = {} }, seed }: MockOptions,
  err: (line: string) => void,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const { seed: paths, 'client-id': client_id = '', 'client-secret': client_secret = '' } = read.values
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-drift-'))
  try {
    const seedFile = join(folder, 'seed.json')
    await writeFile(seedFile, jsonText({ clients: [{ client_id, client_secret }], settings, ...seed }))
    const options = {
      state: null,
      seeds: seed ? [seedFile] : [...(paths ?? ['bundled']), seedFile],
      log: createLog('error', false, err),
      ...optionsOf(read, configuration),
    }
    return await withApp(options, async (_app, url) => {
      await rm(seedFile)
      return use(url)
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What the flags of the mock say, and in their place the lines of a configuration file that are tried. */
function optionsOf({ values, setBy }: Arguments<'drift'>, tried: JsonObject): AppOptions {
  return {
    documentedOnly: values['documented-only'] || tried['documented_only'] === true,
    strict: values.strict || tried['strict'] === true,
    mcp: values.mcp || tried['mcp'] === true,
    bodyLimit: Number(tried['body_limit'] ?? 0) || (setBy.has('body-limit') ? values['body-limit'] : undefined),
  }
}

/** @throws StartError for a file that is no HAR */
async function readRecording(file: string): Promise<readonly Exchange[]> {
  const value = parsedJson(await readTextFile(file))
  const { data, error } = harSchema.safeParse(value)
  const [problem] = error ? problemsOf(error.issues, value) : []
  if (problem)
    throw new StartError(`${file} is no HAR: ${value === undefined ? 'it is not JSON' : problemSentence(problem)}`)
  const exchanges = data ? exchangesOf(data) : []
  if (exchanges.length === 0)
    throw new StartError(`${file} has no request of the service: paths begin with /api/v1/, /oauth/, /proxy/ or /mcp/`)
  return exchanges
}

function settingsText(report: DriftReport): string {
  const { settings, configuration } = settingsThatFix(report.findings)
  const lines = [
    'What toolmock drift has found to fix: a seed, for --seed bundled --seed THIS_FILE.',
    ...(configuration ? ['In toolmock.config.yaml:'] : []),
    ...Object.entries(configuration ?? {}).map(([name, value]) => `  ${name}: ${jsonText(value)}`),
  ]
  return documentText({ settings: settings ?? {} }, lines.join('\n'))
}

const acceptedSchema = z.array(
  strict({
    finding: nonEmpty.describe('The id of a finding.'),
    reason: nonEmpty.describe('Why it is known and stays.'),
  }),
)

/** The findings that a file accepts. @throws DocumentError with line and column; UnreadableFileError */
async function readAccepted(file: string): Promise<readonly Accepted[]> {
  const source = new SourceText(await readTextFile(file), file)
  const { data, error } = acceptedSchema.safeParse(source.value)
  if (!data) throw new DocumentError(locatedProblems(source, problemsOf(error.issues, source.value)))
  return data
}
