import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { packagePaths } from '../../src/files/package-disk.ts'
import { BUNDLING, checkCatches, inAscii, MINIFY } from '../bundle.ts'
import { installPackages } from '../install.ts'
import { unpackFromNpm } from '../npm-package.ts'
import { manifestOf, ROOT } from '../project.ts'
import { bareExecutable } from './formats.ts'
import { formula } from './formula.ts'
import { PATHS } from './package-assets.ts'
import { BINARIES, binaryName, HOST, type Platform, PLATFORMS } from './platforms.ts'

// `npm run binary` makes an executable for each platform: Node with the program inside, a single executable application. It reads
// `dist`, which `npm run build` makes. `npm run binary -- linux-x64` makes one of them.

/** Node's packages, in one version. */
const PINS = JSON.parse(readFileSync(`${ROOT}.build/binary/pins.json`, 'utf8')) as {
  readonly version: string
  readonly packages: Readonly<Record<Platform, { readonly name: string; readonly integrity: string }>>
}

/** Node looks for the program under these names. */
const [RESOURCE, SEGMENT, FUSE] = ['NODE_SEA_BLOB', 'NODE_SEA', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2']

const PROGRAM = 'program.cjs'

/** What the program reads besides its code. */
const FOLDERS = ['seeds', 'scenarios', 'extensions', 'starter', 'dist/ui']
const SEED = 'dist/bundled-seed.json'

/** Replaces the files of the package on disk by the assets of the executable. */
const assetsInsteadOfDisk: Plugin = {
  name: 'assets-instead-of-disk',
  resolveId: {
    filter: { id: /\/package-disk\.ts$/ },
    handler: () => `${ROOT}.build/binary/package-assets.ts`,
  },
}

/** The command line as one script in CommonJS, which is all that Node takes. A module is run when it is first needed. */
async function bundleProgram(file: string): Promise<void> {
  const { define } = BUNDLING.transform
  const bundle = await rolldown({
    ...BUNDLING,
    input: `${ROOT}.build/binary/main.ts`,
    plugins: [assetsInsteadOfDisk, ...BUNDLING.plugins],
    transform: { ...BUNDLING.transform, define: { ...define, TOOLMOCK_EXECUTABLE: 'true' } },
  })
  const { output } = await bundle.generate({
    format: 'cjs',
    minify: MINIFY,
    comments: false,
    codeSplitting: false,
    strictExecutionOrder: true,
  })
  await bundle.close()
  const [program, ...others] = output
  if (others.length > 0) throw new Error(`the program is in ${output.length} files`)
  checkCatches([program])
  writeFileSync(file, inAscii(program.code))
}

/** The files that the program reads, by their paths in the package. */
async function assets(folder: string): Promise<Record<string, string>> {
  const paths = [...(await Promise.all(FOLDERS.map(packagePaths))).flat().sort(), SEED]
  const list = join(folder, PATHS)
  writeFileSync(list, JSON.stringify(paths))
  return { [PATHS]: list, ...Object.fromEntries(paths.map((path) => [path, ROOT + path])) }
}

/** What Node reads at its start: the script, its compiled code, the assets. Compiled code is of one platform. */
async function makeBlob(node: string, folder: string, useCodeCache: boolean): Promise<Buffer> {
  // The names are in the file and in traces, so they are relative.
  const [main, output] = [PROGRAM, 'program.blob']
  const config = { main, output, disableExperimentalSEAWarning: true, useCodeCache, assets: await assets(folder) }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  execFileSync(node, ['--experimental-sea-config', 'config.json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return readFileSync(join(folder, output))
}

interface Postject {
  readonly inject: (
    file: string,
    resource: string,
    data: Buffer,
    options: { readonly sentinelFuse: string; readonly machoSegmentName: string },
  ) => Promise<void>
}

/** Makes the executables with their checksums, licenses and the formula of Homebrew in {@link BINARIES}. */
export async function buildBinaries(platforms: readonly Platform[]): Promise<void> {
  installPackages('.build/binary')
  const { inject } = createRequire(`${ROOT}.build/binary/`)('postject') as Postject
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-binary-'))
  try {
    rmSync(BINARIES, { recursive: true, force: true })
    mkdirSync(BINARIES)
    const unpack = (platform: Platform): string => {
      const { name, integrity } = PINS.packages[platform]
      const path = platform.startsWith('win') ? 'bin/node.exe' : 'bin/node'
      unpackFromNpm(`${name}@${PINS.version}`, integrity, [path], join(folder, platform))
      return join(folder, platform, path)
    }
    await bundleProgram(join(folder, PROGRAM))
    const host = unpack(HOST)
    for (const platform of platforms) {
      const file = join(BINARIES, binaryName(platform))
      writeFileSync(file, bareExecutable(readFileSync(platform === HOST ? host : unpack(platform))))
      await inject(file, RESOURCE, await makeBlob(host, folder, platform === HOST), {
        sentinelFuse: FUSE,
        machoSegmentName: SEGMENT,
      })
      chmodSync(file, 0o755)
    }
    unpackFromNpm(`${PINS.packages[HOST].name}@${PINS.version}`, PINS.packages[HOST].integrity, ['LICENSE'], folder)
    writeFileSync(
      join(BINARIES, 'third-party-licenses.txt'),
      `${readFileSync(`${ROOT}dist/third-party-licenses.txt`, 'utf8')}\n${'-'.repeat(80)}\n\nNode.js ${PINS.version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8')}`,
    )
    writeChecksums(platforms)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeChecksums(platforms: readonly Platform[]): void {
  const checksum = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(BINARIES, name)))
      .digest('hex')
  const checksums = Object.fromEntries(platforms.map((platform) => [platform, checksum(binaryName(platform))]))
  const lines = platforms.map((platform) => `${checksums[platform] ?? ''}  ${binaryName(platform)}\n`)
  writeFileSync(join(BINARIES, 'SHA256SUMS'), lines.join(''))
  if (platforms.length === PLATFORMS.length)
    writeFileSync(join(BINARIES, 'toolmock.rb'), formula(manifestOf(ROOT).version, checksums))
}

if (process.argv[1] === import.meta.filename) {
  const words = process.argv.slice(2)
  const unknown = words.filter((word) => !PLATFORMS.some((platform) => platform === word))
  if (unknown.length > 0)
    throw new Error(`there is no platform ${unknown.join(', ')}; there are ${PLATFORMS.join(', ')}`)
  await buildBinaries(words.length > 0 ? (words as Platform[]) : PLATFORMS)
  console.log(`${BINARIES}\n${readFileSync(join(BINARIES, 'SHA256SUMS'), 'utf8')}`)
}
