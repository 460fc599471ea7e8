import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { create, createFileRegistry, toBinary } from '@bufbuild/protobuf'
import { type FileDescriptorProto, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { servedRoutes } from '../../model/contract/route.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { systemReason } from '../../model/domain/system-error.ts'
import type { VocabularyWords } from '../../model/domain/vocabulary.ts'
import { completeSet, isSameDescriptor, type MissingType } from './descriptors.ts'
import { embeddedDescriptors } from './embedded-descriptors.ts'
import { methodsOf } from './http-rule.ts'
import { methodTable } from './method-table.ts'
import { wordDifferences } from './enum-words.ts'

/** Endings of generated code. */
const GENERATED = /\.([cm]?[jt]s|py)$/

/** Generated files are large; larger ones are no code. */
const MAX_SIZE = 32 * 1024 * 1024

export interface CollectedDescriptors {
  /** A `FileDescriptorSet`. */
  readonly set: Uint8Array
  /** The name of each file of the set, and the file that it was found in. */
  readonly found: readonly { readonly name: string; readonly source: string }[]
  /** Files that several generated ones contain with different content; the first one is in the set. */
  readonly contradicting: readonly string[]
  readonly missing: readonly MissingType[]
  readonly read: number
  /** What a mock would serve of it. */
  readonly table: string
  readonly vocabulary: VocabularyWords
}

/** Reads generated files as text. @throws StartError for a folder that cannot be read, or that has no descriptors */
export async function collectDescriptors(folders: readonly string[]): Promise<CollectedDescriptors> {
  const files = new Map<string, { readonly file: FileDescriptorProto; readonly source: string }>()
  const contradicting = new Set<string>()
  const paths = (await Promise.all(folders.map(generatedFiles))).flat()
  const read = paths.length
  for (const path of paths) {
    for (const file of embeddedDescriptors(await readFile(path, 'utf8'))) {
      const earlier = files.get(file.name)
      if (!earlier) files.set(file.name, { file, source: relative('', path) })
      else if (!isSameDescriptor(earlier.file, file)) contradicting.add(file.name)
    }
  }
  if (files.size === 0) {
    throw new StartError(
      `${folders.join(', ')}: none of ${read} files of JavaScript, TypeScript and Python has descriptors. They are in the code of ` +
        'protobuf-es 2 (fileDesc) and in *_pb2.py. For other clients, write them from the definitions: buf build -o FILE.',
    )
  }
  const { file, missing } = completeSet([...files.values()].map((each) => each.file))
  const methods =
    missing.length > 0
      ? []
      : methodsOf(
          createFileRegistry(create(FileDescriptorSetSchema, { file })),
          servedRoutes({ documentedOnly: false, mcp: false }),
        )
  return {
    set: toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file })),
    found: [...files].map(([name, { source }]) => ({ name, source })),
    contradicting: [...contradicting],
    missing,
    read,
    table: methodTable(methods, undefined),
    vocabulary: wordDifferences(methods, undefined).vocabulary,
  }
}

async function generatedFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const paths = entries.filter((entry) => entry.isFile() && GENERATED.test(entry.name))
    const files = await Promise.all(
      paths.map(async ({ parentPath, name }) => {
        const path = join(parentPath, name)
        return (await stat(path)).size <= MAX_SIZE ? [path] : []
      }),
    )
    return files.flat().sort()
  } catch (error) {
    throw new StartError(`the folder ${folder} cannot be read (${systemReason(error)}).`)
  }
}
