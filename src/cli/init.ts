import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../disk/make-directory.ts'
import { EXAMPLE_CONNECTORS, STARTER, STARTER_SCENARIO, STARTER_SEED } from '../documents/starter.ts'
import { StartError } from '../domain/start-error.ts'
import { shellQuote } from '../domain/text.ts'
import { readArguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { fileFailure, UsageError } from './failure.ts'

/** The default is not the current folder, because other files there are not documents. */
const DEFAULT_FOLDER = 'toolmock'

/** Writes the starter files and prints the next steps; 2 when one of them exists, and nothing is written. */
export async function init(argv: readonly string[], { variables, out }: CommandContext): Promise<number> {
  const { operands, values } = readArguments('init', argv, variables)
  const [folder = DEFAULT_FOLDER, ...more] = operands
  if (more.length > 0) throw new UsageError(`init takes one DIR; found ${operands.join(' ')}.`)
  const example = values.connector === 'calendar' ? EXAMPLE_CONNECTORS[values.connector] : undefined
  const files = (example ?? STARTER).map(({ path, text }) => ({ file: join(folder, path), text }))
  const existing = files.filter(({ file }) => existsSync(file)).map(({ file }) => file)
  if (existing.length > 0) {
    throw new StartError(
      `${existing.join(', ')} ${existing.length === 1 ? 'is' : 'are'} there already and stay as they are; name another folder: npx toolmock init DIR`,
    )
  }
  for (const { file, text } of files) {
    try {
      await makeDirectory(dirname(file))
      await writeFile(file, text, { flag: 'wx' })
    } catch (error) {
      throw new StartError(`${file} cannot be written (${fileFailure(error)})`)
    }
    out(`wrote ${file}`)
  }
  const [seed, scenario] = [join(folder, STARTER_SEED), join(folder, STARTER_SCENARIO)].map(shellQuote)
  out('')
  out('Next:')
  out(`  npx toolmock validate ${shellQuote(folder)}`)
  // A state that is there keeps its own seed.
  const state = `--state .toolmock/${example ? 'calendar' : 'bookings'}.json`
  out(`  npx toolmock start --seed ${seed} ${state} --watch`)
  if (!example) out(`  npx toolmock start --seed ${seed} ${state} --scenario ${scenario}`)
  return 0
}
