import { writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../disk/make-directory.ts'
import { STARTER, STARTER_SCENARIO, STARTER_SEED } from '../documents/starter.ts'
import { StartError } from '../domain/start-error.ts'
import { readArguments } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { systemCode } from './failure.ts'
import { COMMON_FLAGS } from './flags.ts'
import { UsageError } from './usage-error.ts'

/** Where the files go when nobody says. Not the present folder, whose other files are no seed. */
const FOLDER = 'toolmock'

/** Writes the starter files and says what to do with them; 2 when one of them is there already, and nothing is written. */
export async function init(argv: readonly string[], { variables, out }: Surroundings): Promise<number> {
  const { rest } = readArguments(COMMON_FLAGS, argv, variables)
  const [folder = FOLDER, ...more] = rest
  if (more.length > 0) throw new UsageError(`init takes one DIR; found ${rest.join(' ')}.`)
  const files = STARTER.map(({ path, text }) => ({ file: join(folder, path), text }))
  const there = files.filter(({ file }) => existsSync(file))
  if (there.length > 0) {
    throw new StartError(
      `${there.map(({ file }) => file).join(', ')} ${there.length === 1 ? 'is' : 'are'} there already and stay as they are; name another folder: toolmock init DIR`,
    )
  }
  for (const { file, text } of files) {
    await write(file, text)
    out(`wrote ${file}`)
  }
  for (const line of nextSteps(folder)) out(line)
  return 0
}

async function write(file: string, text: string): Promise<void> {
  try {
    await makeDirectory(dirname(file))
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    throw new StartError(`${file} cannot be written (${systemCode(error) ?? String(error)})`)
  }
}

function nextSteps(folder: string): string[] {
  const [seed, scenario] = [join(folder, STARTER_SEED), join(folder, STARTER_SCENARIO)].map(quoted)
  return [
    '',
    'Next:',
    `  toolmock validate ${quoted(folder)}`,
    `  toolmock start --seed ${seed} --watch`,
    `  toolmock start --seed ${seed} --scenario ${scenario}`,
  ]
}

function quoted(path: string): string {
  return /^[\w./@%+,:-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
