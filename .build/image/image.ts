import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackFromNpm } from '../npm-package.ts'
import { manifestOf, ROOT } from '../project.ts'

// `npm run image` builds the container image without an engine and without a base image from a registry: buildah, as root, puts
// the last stage of the Dockerfile on a base of Debian's runtime packages and npm's Node.

const ARCHITECTURES = ['amd64', 'arm64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

/** The architecture of this machine. */
export const OWN: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** What the base contains, in exact versions. */
const PINS = JSON.parse(readFileSync(`${ROOT}.build/image/pins.json`, 'utf8')) as {
  readonly node: { readonly version: string; readonly integrity: Readonly<Record<Architecture, string>> }
  readonly debian: Readonly<Record<string, string>>
}

/** What the packages contain for people, compilers and debuggers, and tables for character sets that Node has itself. */
const UNUSED = [
  'usr/share/man',
  'usr/share/locale',
  'usr/share/lintian',
  'usr/share/gdb',
  'usr/share/gcc',
  'usr/share/base-files',
]

/** buildah with the storage of the machine, or with one of its own. */
export class Buildah {
  readonly #storage: readonly string[]

  constructor(folder?: string) {
    this.#storage = folder === undefined ? [] : ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')]
  }

  /** @throws Error with what buildah says when it fails */
  run(...args: readonly string[]): string {
    return run('buildah', [...this.#storage, ...args])
  }

  /**
   * Builds a Dockerfile as `docker build` would. The format is Docker's, because only that has a health check. Without times in
   * it, the same files make the same image.
   */
  build(...args: readonly string[]): void {
    const same = ['--timestamp', '0', '--identity-label=false']
    this.run('bud', '--isolation', 'chroot', '--format', 'docker', '--pull-never', ...same, ...args)
  }

  /** Mounts a new container of an image; `rm --all` ends both. Returns its root. */
  mount(image: string): string {
    return this.run('mount', this.run('from', '--pull-never', image))
  }
}

/**
 * Builds the image of each architecture and the manifest list of both.
 * @param tarball what `npm pack` made
 * @param folder an empty one
 * @returns the name of the list; its images have the architecture behind it: `localhost/toolmock:0.1.0-amd64`
 */
export function buildImage(buildah: Buildah, tarball: string, folder: string): string {
  const { version } = manifestOf(ROOT)
  const name = `localhost/toolmock:${version}`
  unpackProduct(tarball, folder)
  if (buildah.run('images', '--format', '{{.Name}}:{{.Tag}}').split('\n').includes(name))
    buildah.run('manifest', 'rm', name)
  buildah.run('manifest', 'create', name)
  for (const architecture of ARCHITECTURES) {
    const base = buildBase(buildah, architecture, join(folder, architecture))
    const label = ['--label', `org.opencontainers.image.version=${version}`]
    const image = `${name}-${architecture}`
    // The last stage reads nothing of its context.
    const context = join(folder, 'out/data')
    buildah.build(
      '--layers',
      '--build-context',
      `build=${folder}`,
      '--build-arg',
      `BASE=${base}`,
      ...label,
      '--arch',
      architecture,
      '--tag',
      image,
      '--file',
      `${ROOT}Dockerfile`,
      context,
    )
    buildah.run('manifest', 'add', name, image)
  }
  return name
}

/** The folders that the last stage of the Dockerfile copies. */
function unpackProduct(tarball: string, folder: string): void {
  for (const each of ['out', 'out/app', 'out/data']) {
    mkdirSync(join(folder, each))
    chmodSync(join(folder, each), 0o755)
  }
  run('tar', ['-xzf', tarball, '-C', join(folder, 'out/app'), '--strip-components=1'])
}

/** Builds the base of an architecture. It is no more than its files, so it needs no machine of that architecture. */
function buildBase(buildah: Buildah, architecture: Architecture, folder: string): string {
  const [debian, node] = [join(folder, 'debian'), join(folder, 'node')]
  for (const each of [folder, debian, node]) mkdirSync(each)
  unpackDebian(architecture, folder, debian)
  unpackNode(architecture, folder, node)
  const image = `localhost/toolmock-base:${architecture}`
  buildah.build('--layers', '--arch', architecture, '--tag', image, '--file', `${ROOT}.build/image/Dockerfile`, folder)
  return image
}

/** Unpacks the runtime packages, and lists them where scanners look for packages of an image without dpkg. */
function unpackDebian(architecture: Architecture, folder: string, root: string): void {
  const status = join(root, 'var/lib/dpkg/status.d')
  mkdirSync(status, { recursive: true })
  for (const deb of download(Object.keys(PINS.debian), architecture, join(folder, 'downloads'))) {
    const [name = '', version = ''] = run('dpkg-deb', ['--show', '--showformat', '${Package} ${Version}', deb]).split(
      ' ',
    )
    // Debian removes a version when it publishes the next one, so the pin is no longer to be had.
    if (version !== PINS.debian[name])
      console.error(
        `Debian serves ${name} ${version}: put it into .build/image/pins.json in place of ${PINS.debian[name]}`,
      )
    run('dpkg-deb', ['--extract', deb, root])
    writeFileSync(join(status, name), `${run('dpkg-deb', ['--field', deb])}\n`)
  }
  const documents = readdirSync(join(root, 'usr/share/doc'), { recursive: true, withFileTypes: true })
  for (const each of documents) if (each.isFile() && each.name !== 'copyright') rmSync(join(each.parentPath, each.name))
  const tables = run('find', [root, '-type', 'd', '-name', 'gconv']).split('\n')
  for (const each of [...UNUSED.map((path) => join(root, path)), ...tables])
    rmSync(each, { recursive: true, force: true })
  cpSync(`${ROOT}.build/image/etc`, join(root, 'etc'), { recursive: true })
}

/**
 * Downloads packages of Debian by apt, which checks their signatures: the pinned version while Debian has it, else the newest.
 * @returns the files
 */
export function download(names: readonly string[], architecture: Architecture, folder: string): string[] {
  mkdirSync(join(folder, 'lists/partial'), { recursive: true })
  // Lists of its own: the machine's may be old, and are of one architecture.
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': folder,
  }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  run('apt-get', [...flags, 'update'])
  for (const name of names) {
    const pinned = `${name}=${PINS.debian[name] ?? ''}`
    const isServed =
      name in PINS.debian && run('apt-cache', [...flags, 'madison', name]).includes(` ${PINS.debian[name]} `)
    run('apt-get', [...flags, 'download', isServed ? pinned : name], folder)
  }
  return readdirSync(folder).flatMap((file) => (file.endsWith('.deb') ? join(folder, file) : []))
}

/** @throws Error when npm serves other bytes than the pinned ones */
function unpackNode(architecture: Architecture, folder: string, root: string): void {
  const { version, integrity } = PINS.node
  const name = `node-linux-${architecture === 'amd64' ? 'x64' : architecture}@${version}`
  unpackFromNpm(name, integrity[architecture], ['bin/node', 'LICENSE'], folder)
  const [local, doc] = [join(root, 'usr/local'), join(root, 'usr/local/share/doc/node')]
  mkdirSync(doc, { recursive: true })
  cpSync(join(folder, 'bin'), join(local, 'bin'), { recursive: true })
  cpSync(join(folder, 'LICENSE'), join(doc, 'LICENSE'))
}

/** The tarball that npm publishes, from the files in `dist`. */
export function packProduct(folder: string): string {
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], ROOT)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  return join(folder, filename)
}

/** Makes a folder for `use`, and removes it afterwards. */
export async function inTemporaryFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-image-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a program and returns its output. @throws Error with its stderr when it fails */
export function run(command: string, args: readonly string[], cwd?: string): string {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
    ...(cwd && { cwd }),
  }).trim()
}

if (process.argv[1] === import.meta.filename) {
  const name = await inTemporaryFolder((folder) => buildImage(new Buildah(), packProduct(folder), folder))
  console.log(`${name}\nbuildah manifest push --all ${name} docker://REGISTRY/toolmock puts it into a registry`)
}
