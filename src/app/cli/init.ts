import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { starterText } from '../../files/package-files.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { shellQuote } from '../../model/domain/text.ts'
import type { Run } from './command.ts'
import { UsageError } from './failure.ts'
import { configurationFiles } from './find-configuration.ts'
import { writeNew } from './written-document.ts'

/** The default is not the current folder, because other files there are not documents. */
const DEFAULT_FOLDER = 'toolmock'

/** Where the seed is, for `--seed`; the layout is that of the package's own `seeds` and `scenarios`. */
const SEED = 'seeds'
const SCENARIO = 'scenarios/bookings-busy.yaml'

const CONFIGURATION = 'toolmock.config.yaml'

/** The files of each example in `starter/`, in the order in which they are written. */
const EXAMPLES = {
  bookings: [
    [`${SEED}/default.yaml`, 'seed'],
    [`${SEED}/connectors/bookings.yaml`, 'connector'],
    [SCENARIO, 'scenario'],
  ],
  calendar: [
    [`${SEED}/default.yaml`, 'seed'],
    [`${SEED}/connectors/calendar.yaml`, 'connector'],
  ],
} as const

/** Writes the starter files and prints the next steps; 2 when one of them exists, and nothing is written. */
export const init: Run<'init'> = async ({ operands, values }, { out }) => {
  const [folder = DEFAULT_FOLDER, ...more] = operands
  if (more.length > 0) throw new UsageError(`init takes one DIR; found ${operands.join(' ')}.`)
  const example = values.connector === 'calendar' ? values.connector : 'bookings'
  const files = EXAMPLES[example].map(([path, kind]) => ({ file: join(folder, path), path, kind }))
  const existing = files.filter(({ file }) => existsSync(file)).map(({ file }) => file)
  if (existing.length > 0) {
    throw new StartError(
      `${existing.join(', ')} ${existing.length === 1 ? 'is' : 'are'} there already and stay as they are; name another folder: npx toolmock init DIR`,
    )
  }
  for (const { file, path, kind } of files) {
    await writeNew(kind, file, await starterText(`${example}/${path}`))
    out(`wrote ${file}`)
  }
  const [seed, scenario] = [join(folder, SEED), join(folder, SCENARIO)]
  // A state that is there keeps its own seed.
  const state = `.toolmock/${example}.json`
  const [configuration] = await configurationFiles()
  if (configuration) out(`kept ${configuration.file}, the configuration that is there`)
  else {
    await writeNew('config', CONFIGURATION, configurationText(seed, state))
    out(`wrote ${CONFIGURATION}`)
  }
  const flags = configuration ? ` --seed bundled --seed ${shellQuote(seed)} --state ${state}` : ''
  out('')
  out('Next:')
  out(`  npx toolmock validate ${shellQuote(folder)}`)
  out(`  npx toolmock start${flags} --watch`)
  if (example === 'bookings') out(`  npx toolmock start${flags} --scenario ${shellQuote(scenario)}`)
}

function configurationText(seed: string, state: string): string {
  return `# What the flags of npx toolmock say, as a file. Flags and variables win over it; npx toolmock config shows the result.
seed: [bundled, ${JSON.stringify(seed)}] # bundled: the connectors that come with toolmock
state: ${state}
# verdict: { min_operations: 3, reports: { junit: toolmock.xml } } # how npx toolmock run -- CMD judges
`
}
