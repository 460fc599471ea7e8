import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { mayBeCalled } from '../../model/domain/base-url.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { hasCode, systemReason } from '../../model/domain/system-error.ts'
import { plural } from '../../model/domain/text.ts'
import { contractBreaches } from '../../compare/record/observed.ts'
import { RecordingProxy } from '../../compare/record/proxy.ts'
import type { Recorded } from '../../compare/record/recorded.ts'
import { systemTime } from '../../state/model/time-and-ids.ts'
import type { Run } from './command.ts'
import { UsageError } from './failure.ts'
import { writeRecording } from '../../compare/record/recording-files.ts'
import { withAppMock } from './rehearsal-mock.ts'
import { LOOPBACK } from './server-options.ts'
import { StopRequest } from './stop.ts'
import { reportWrite } from '../../platform/disk/written-file.ts'

/** Stands in front of the service until Ctrl-C, then writes what came through as files that replay it. */
export const record: Run<'record'> = async ({ values }, { out, err, progress }) => {
  const { upstream, out: folder, mask = [], port } = values
  if (upstream === undefined || folder === undefined)
    throw new UsageError('record needs --upstream URL and --out FOLDER.')
  if (!mayBeCalled(upstream, values['allow-outbound']))
    throw new UsageError(
      `--upstream ${upstream} is not on loopback: name a service on loopback, or give --allow-outbound.`,
    )
  await checkFolder(folder, values.force)
  const exchanges: Recorded[] = []
  const proxy = new RecordingProxy({
    upstream,
    now: systemTime,
    recorded: (exchange) => {
      exchanges.push(exchange)
      const [first, ...more] = contractBreaches(exchange)
      progress?.(`${plural(exchanges.length, 'request')} recorded`)
      const said = `${exchange.method} ${exchange.target.split('?', 1).join()} ${exchange.response?.status ?? 'no answer'}`
      if (first !== undefined) err(`contract: ${said}: ${first}${more.length > 0 ? ` (and ${more.length} more)` : ''}`)
    },
  })
  const url = await proxy.listen(LOOPBACK, port)
  using stop = new StopRequest()
  out(
    `recording ${upstream} at ${url}: give your client this address, and its own credentials. Ctrl-C writes ${folder}.`,
  )
  await stop.asked
  await proxy.close()
  progress?.('')
  if (exchanges.length === 0) {
    out('no request came; nothing was written')
    return 0
  }
  const recording = { exchanges, folder, upstream, mask, maskIdentifiers: values['mask-identifiers'] }
  for (const line of await writeRecording(recording, withAppMock, (note) => progress?.(note))) out(line)
  return 0
}

/** Makes a folder for a moment: a recording that cannot be written is lost. @throws StartError, also for files in it */
async function checkFolder(folder: string, isForced: boolean): Promise<void> {
  const files = await readdir(folder).catch((error: unknown): string[] => {
    if (hasCode(error, 'ENOENT')) return []
    throw new StartError(`--out ${folder} is no folder that can be read (${systemReason(error)})`)
  })
  if (files.length > 0 && !isForced)
    throw new StartError(`--out ${folder} is not empty: name another folder, or give --force to write into it`)
  let existing = resolve(folder)
  while (!existsSync(existing)) existing = dirname(existing)
  await reportWrite(`--out ${folder}`, async () => rmdir(await mkdtemp(join(existing, '.toolmock-'))))
}
