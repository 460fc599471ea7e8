import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './step.ts'

/** Descriptors of the rules of `google.api.http`, of `google.rpc.ErrorInfo` and of the health service, by protoc-gen-es. */
export const rpcDescriptors = step(
  'rpc descriptors',
  'src/servers/rpc/proto/descriptors.binpb',
  'src/servers/rpc/generated',
  [
    'google/api/annotations.proto',
    'google/api/http.proto',
    'google/rpc/error_details.proto',
    'grpc/health/v1/health.proto',
    'toolmock/unserved.proto',
  ],
)

/** The client of the tests: a `.proto` of our own with every form of rule. */
export const rpcFixture = step('rpc fixture', 'test/fixtures/rpc/acme.binpb', 'test/fixtures/rpc/generated', [
  'acme/tools/v1/tools.proto',
  'google/api/annotations.proto',
  'google/api/http.proto',
])

/**
 * Generates TypeScript for files of a descriptor set. The set is checked in, because its compiler is not a package of npm;
 * `npm run generate:descriptors` makes it after a change of a `.proto`, and a test of `test/servers/rpc` compares both.
 */
function step(name: string, set: string, folder: string, files: readonly string[]): Step {
  return {
    name,
    inputs: [set],
    outputs: files.map((path) => `${folder}/${path.replace('.proto', '_pb.ts')}`),
    make: async (root) => generated(root, await readFile(join(root, set)), folder, files),
  }
}

/** Runs protoc-gen-es, which reads a request of the protobuf compiler and writes its answer. @throws Error with its reason */
async function generated(root: string, set: Buffer, folder: string, files: readonly string[]) {
  const { create, fromBinary, toBinary } = await import('@bufbuild/protobuf')
  const wkt = await import('@bufbuild/protobuf/wkt')
  const request = create(wkt.CodeGeneratorRequestSchema, {
    fileToGenerate: [...files],
    parameter: 'target=ts,import_extension=ts',
    protoFile: fromBinary(wkt.FileDescriptorSetSchema, set).file,
  })
  const plugin = join(root, 'node_modules/@bufbuild/protoc-gen-es/bin/protoc-gen-es')
  const input = toBinary(wkt.CodeGeneratorRequestSchema, request)
  const { status, stdout, stderr } = spawnSync(process.execPath, [plugin], { input })
  if (status !== 0) throw new Error(`protoc-gen-es failed: ${stderr.toString()}`)
  const answer = fromBinary(wkt.CodeGeneratorResponseSchema, stdout)
  if (answer.error !== '') throw new Error(`protoc-gen-es failed: ${answer.error}`)
  return new Map(answer.file.map((each) => [`${folder}/${each.name}`, each.content]))
}
