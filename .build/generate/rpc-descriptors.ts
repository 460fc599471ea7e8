import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Step } from './step.ts'

const OWN = ['grpc/health/v1/health.proto', 'toolmock/unserved.proto']
const OF_GOOGLE = ['google/api/annotations.proto', 'google/api/http.proto', 'google/rpc/error_details.proto']

/** Descriptors of the rules of `google.api.http`, of `google.rpc.ErrorInfo` and of the health service, by protoc-gen-es. */
export const rpcDescriptors: Step = {
  name: 'rpc descriptors',
  inputs: OWN.map((path) => `src/rpc/proto/${path}`),
  outputs: [...OWN, ...OF_GOOGLE].map((path) => `src/rpc/generated/${path.replace('.proto', '_pb.ts')}`),
  make: (root) =>
    compiled(root, 'src/rpc/generated', [
      [join(root, 'src/rpc/proto'), OWN],
      [join(root, 'node_modules/google-proto-files'), OF_GOOGLE],
    ]),
}

const FIXTURE = 'acme/tools/v1/tools.proto'

/** The client of the tests: a `.proto` of our own with every form of rule. */
export const rpcFixture: Step = {
  name: 'rpc fixture',
  inputs: [`test/fixtures/rpc/${FIXTURE}`],
  outputs: [FIXTURE, ...OF_GOOGLE].map((path) => `test/fixtures/rpc/generated/${path.replace('.proto', '_pb.ts')}`),
  make: (root) =>
    compiled(root, 'test/fixtures/rpc/generated', [
      [join(root, 'test/fixtures/rpc'), [FIXTURE]],
      [join(root, 'node_modules/google-proto-files'), OF_GOOGLE],
    ]),
}

/** Compiles protobuf files of several folders as one module. */
async function compiled(
  root: string,
  output: string,
  sources: readonly (readonly [folder: string, paths: readonly string[]])[],
): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-proto-'))
  try {
    for (const [from, paths] of sources) {
      for (const path of paths) {
        await mkdir(dirname(join(folder, 'in', path)), { recursive: true })
        await cp(join(from, path), join(folder, 'in', path))
      }
    }
    const plugin = {
      local: join(root, 'node_modules/.bin/protoc-gen-es'),
      out: join(folder, 'out'),
      opt: ['target=ts', 'import_extension=ts'],
    }
    const template = JSON.stringify({ version: 'v2', plugins: [plugin] })
    const buf = join(root, 'node_modules/.bin/buf')
    await promisify(execFile)(buf, ['generate', join(folder, 'in'), '--template', template], {
      env: { ...process.env, BUF_CACHE_DIR: join(folder, 'cache') },
    })
    const files = await readdir(join(folder, 'out'), { recursive: true, withFileTypes: true })
    const texts = files
      .filter((file) => file.isFile())
      .map(async (file): Promise<[string, string]> => {
        const path = join(file.parentPath, file.name)
        return [output + path.slice(join(folder, 'out').length), await readFile(path, 'utf8')]
      })
    return new Map(await Promise.all(texts))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
