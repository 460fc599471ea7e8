import { existsSync } from 'node:fs'
import { readTextFile } from '../../files/text-files.ts'
import { plural } from '../../model/domain/text.ts'
import type { Run } from './command.ts'
import { UsageError } from './failure.ts'
import { withSchema } from '../../files/schema-line.ts'
import { writeOver } from '../../platform/disk/written-file.ts'

/** Collects the protobuf descriptors of generated clients into a file: 0, or 1 and no file when some are missing. */
export const descriptors: Run<'descriptors'> = async ({ operands: folders, values }, { out }) => {
  const { out: target, seed } = values
  if (folders.length === 0) throw new UsageError('descriptors needs the folder of a generated client.')
  if (target === undefined)
    throw new UsageError('descriptors needs --out FILE, which --descriptors of a start then takes.')
  const { collectDescriptors } = await import('../../servers/rpc/collect-descriptors.ts')
  const collected = await collectDescriptors(folders)
  for (const { name, source } of collected.found) out(`found ${name} in ${source}`)
  for (const name of collected.contradicting) out(`warning: several files have ${name}, with different content`)
  if (collected.missing.length > 0) {
    for (const { type, file } of collected.missing) out(`missing ${type}, which ${file} uses`)
    out('nothing was written: name the folders of the packages that have the missing types as well')
    return 1
  }
  await writeOver(target, collected.set)
  out(`wrote ${plural(collected.found.length, 'file')} out of ${plural(collected.read, 'generated file')} to ${target}`)
  out('')
  out(collected.table)
  if (seed !== undefined) out(await writeWords(seed, collected.vocabulary))
  return 0
}

async function writeWords(seed: string, words: Readonly<Record<string, string>>): Promise<string> {
  const { withVocabulary } = await import('../../files/vocabulary-lines.ts')
  if (!/\.ya?ml$/.test(seed)) throw new UsageError(`--seed ${seed}: expected a seed in YAML.`)
  const text = existsSync(seed) ? await readTextFile(seed) : withSchema('seed', seed, '')
  await writeOver(seed, withVocabulary(text, words, seed))
  return `wrote ${plural(Object.keys(words).length, 'word')} of settings.vocabulary to ${seed}`
}
