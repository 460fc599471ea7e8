import { readFile } from 'node:fs/promises'
import {
  clearField,
  clone,
  create,
  createFileRegistry,
  type DescField,
  type DescFile,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  toBinary,
} from '@bufbuild/protobuf'
import * as wkt from '@bufbuild/protobuf/wkt'
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import { StartError } from '../../model/domain/start-error.ts'
import { systemReason } from '../../model/domain/system-error.ts'
import { file_google_api_annotations } from './generated/google/api/annotations_pb.ts'
import { file_google_api_http } from './generated/google/api/http_pb.ts'
import { file_google_rpc_error_details } from './generated/google/rpc/error_details_pb.ts'

/** Files that many definitions import and that a set may lack: their content is public and always the same. */
const WELL_KNOWN = [
  ...Object.values(wkt).filter(isFileDescriptor),
  file_google_api_http,
  file_google_api_annotations,
  file_google_rpc_error_details,
].map(({ proto }) => proto)

function isFileDescriptor(value: unknown): value is DescFile {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'file'
}

/** Reads files with a `FileDescriptorSet` each, and joins them. @throws StartError naming the file and what is wrong with it */
export async function readDescriptors(paths: readonly string[]): Promise<FileRegistry> {
  const files = new Map<string, { readonly path: string; readonly file: FileDescriptorProto }>()
  for (const path of paths) {
    for (const file of await readSet(path)) {
      const earlier = files.get(file.name)
      if (earlier && !file.name.startsWith('google/') && !isSameDescriptor(earlier.file, file)) {
        throw new StartError(
          `${file.name} is in ${earlier.path} and in ${path} with different content: give one of the two.`,
        )
      }
      if (!earlier) files.set(file.name, { path, file })
    }
  }
  return registryOf(
    [...files.values()].map(({ file }) => file),
    paths.join(', '),
  )
}

async function readSet(path: string): Promise<readonly FileDescriptorProto[]> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new StartError(`the descriptors ${path} cannot be read (${systemReason(error)}).`)
  })
  try {
    const { file } = fromBinary(FileDescriptorSetSchema, bytes)
    if (file.length > 0 && file.every(({ name }) => name !== '')) return file
  } catch {
    // The file is refused below, like one that can be read and is not a set of descriptors.
  }
  throw new StartError(
    `${path} is no set of protobuf descriptors. Write one with buf build -o FILE, ` +
      'protoc --include_imports --descriptor_set_out=FILE, or toolmock descriptors PACKAGE_FOLDER --out FILE.',
  )
}

/** Whether two files have the same types and methods. Comments may differ, and imports, which generated JavaScript leaves out. */
export function isSameDescriptor(one: FileDescriptorProto, another: FileDescriptorProto): boolean {
  const [left, right] = [one, another].map((file) => {
    const bare = clone(FileDescriptorProtoSchema, file)
    const { sourceCodeInfo, dependency, publicDependency, weakDependency } = FileDescriptorProtoSchema.field
    for (const field of [sourceCodeInfo, dependency, publicDependency, weakDependency]) clearField(bare, field)
    return toBinary(FileDescriptorProtoSchema, bare, { writeUnknownFields: false })
  })
  return left !== undefined && right !== undefined && Buffer.from(left).equals(right)
}

/** @throws StartError naming types that no file defines */
function registryOf(files: readonly FileDescriptorProto[], source: string): FileRegistry {
  const { file, missing } = completeSet(files)
  const [first, ...more] = missing
  if (first) {
    const others = more.length === 0 ? '' : `, and ${more.length} more`
    throw new StartError(
      `${source}: ${first.file} uses ${first.type}, which no file of it defines${others}. ` +
        `Write the set with its imports: buf build -o FILE, or protoc --include_imports.`,
    )
  }
  try {
    return createFileRegistry(create(FileDescriptorSetSchema, { file }))
  } catch (error) {
    throw new StartError(`${source} cannot be used: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

/** A type that is used and that no file defines. */
export interface MissingType {
  readonly type: string
  readonly file: string
}

/** Imports are found by the types in use: packages leave out imports of options, generated JavaScript all of them. */
export function completeSet(files: readonly FileDescriptorProto[]): {
  readonly file: FileDescriptorProto[]
  readonly missing: readonly MissingType[]
} {
  const byName = new Map(files.map((file) => [file.name, file]))
  for (const file of WELL_KNOWN) if (!byName.has(file.name)) byName.set(file.name, file)
  const definedIn = new Map<string, string>()
  for (const file of byName.values()) for (const type of typesIn(file)) definedIn.set(type, file.name)
  const missing: MissingType[] = []
  const ordered = new Map<string, FileDescriptorProto>()
  const add = (file: FileDescriptorProto): void => {
    if (ordered.has(file.name)) return
    // Before the imports, because a set may have a circle of imports by mistake.
    ordered.set(file.name, file)
    const dependency = new Set<string>(file.dependency.filter((name) => byName.has(name)))
    for (const type of typesUsedBy(file)) {
      const name = definedIn.get(type)
      if (name === undefined) missing.push({ type: type.slice(1), file: file.name })
      else if (name !== file.name) dependency.add(name)
    }
    for (const name of dependency) add(byName.get(name) as FileDescriptorProto)
    ordered.delete(file.name)
    const complete = clone(FileDescriptorProtoSchema, file)
    complete.dependency = [...dependency]
    complete.publicDependency = []
    complete.weakDependency = []
    ordered.set(file.name, complete)
  }
  for (const file of files) add(file)
  return { file: [...ordered.values()], missing }
}

function typesIn(file: FileDescriptorProto): string[] {
  const scope = file.package === '' ? '' : `.${file.package}`
  const ofMessage = (outer: string, { name, nestedType, enumType }: DescriptorProto): string[] => {
    const type = `${outer}.${name}`
    return [
      type,
      ...nestedType.flatMap((nested) => ofMessage(type, nested)),
      ...enumType.map((each) => `${type}.${each.name}`),
    ]
  }
  return [
    ...file.messageType.flatMap((message) => ofMessage(scope, message)),
    ...file.enumType.map(({ name }) => `${scope}.${name}`),
  ]
}

function typesUsedBy({ messageType, extension, service }: FileDescriptorProto): Set<string> {
  const ofMessage = (message: DescriptorProto): string[] => [
    ...[...message.field, ...message.extension].flatMap(({ typeName, extendee }) => [typeName, extendee]),
    ...message.nestedType.flatMap(ofMessage),
  ]
  const used = [
    ...messageType.flatMap(ofMessage),
    ...extension.flatMap(({ typeName, extendee }) => [typeName, extendee]),
    ...service.flatMap(({ method }) => method.flatMap(({ inputType, outputType }) => [inputType, outputType])),
  ]
  return new Set(used.filter((type) => type !== ''))
}

export function fieldOf(message: DescMessage, name: string): DescField | undefined {
  return message.fields.find((field) => field.name === name)
}
