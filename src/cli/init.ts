import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../disk/make-directory.ts'
import { starterFolder } from '../documents/load-seeds.ts'
import { StartError } from '../domain/start-error.ts'
import { shellQuote } from '../domain/text.ts'
import { readArguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { fileFailure, UsageError } from './failure.ts'

/** The default is not the current folder, because other files there are not documents. */
const DEFAULT_FOLDER = 'toolmock'

/** Where the seed is, for `--seed`; the layout is that of the package's own `seeds` and `scenarios`. */
const SEED = 'seeds'
const SCENARIO = 'scenarios/bookings-busy.yaml'

/** The files of each example in `starter/`, in the order in which they are written. */
const EXAMPLES = {
  bookings: [`${SEED}/default.yaml`, `${SEED}/connectors/bookings.yaml`, SCENARIO],
  calendar: [`${SEED}/default.yaml`, `${SEED}/connectors/calendar.yaml`],
}

/** Writes the starter files and prints the next steps; 2 when one of them exists, and nothing is written. */
export async function init(argv: readonly string[], { variables, out }: CommandContext): Promise<number> {
  const { operands, values } = readArguments('init', argv, variables)
  const [folder = DEFAULT_FOLDER, ...more] = operands
  if (more.length > 0) throw new UsageError(`init takes one DIR; found ${operands.join(' ')}.`)
  const example = values.connector === 'calendar' ? values.connector : 'bookings'
  const files = EXAMPLES[example].map((path) => ({
    file: join(folder, path),
    from: join(starterFolder(), example, path),
  }))
  const existing = files.filter(({ file }) => existsSync(file)).map(({ file }) => file)
  if (existing.length > 0) {
    throw new StartError(
      `${existing.join(', ')} ${existing.length === 1 ? 'is' : 'are'} there already and stay as they are; name another folder: npx toolmock init DIR`,
    )
  }
  for (const { file, from } of files) {
    try {
      await makeDirectory(dirname(file))
      await writeFile(file, await readFile(from), { flag: 'wx' })
    } catch (error) {
      throw new StartError(`${file} cannot be written (${fileFailure(error)})`)
    }
    out(`wrote ${file}`)
  }
  const [seed, scenario] = [join(folder, SEED), join(folder, SCENARIO)].map(shellQuote)
  out('')
  out('Next:')
  out(`  npx toolmock validate ${shellQuote(folder)}`)
  // A state that is there keeps its own seed.
  const state = `--state .toolmock/${example}.json`
  out(`  npx toolmock start --seed ${seed} ${state} --watch`)
  if (example === 'bookings') out(`  npx toolmock start --seed ${seed} ${state} --scenario ${scenario}`)
  return 0
}
