import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { plural } from '../../src/model/domain/text.ts'
import { manifestOf, ROOT } from '../project.ts'
import { releaseNotes } from './notes.ts'
import { workflowProblems } from './workflows.ts'

// `npm run release:check` does everything of a release that needs no account, and prints what it sees. It reads `dist`, which
// `npm run build` made. With `--second-build` it builds a second time elsewhere; without, `npm run check:image` does.

/** What a published file may be. */
const PUBLISHED = [
  /^(CHANGELOG|LICENSE|README|SECURITY)(\.md)?$/,
  /^package\.json$/,
  /^dist\/(cli|index|jest|node-test|playwright|test-runs|vitest)(\.d)?\.c?[jt]s$/,
  /^dist\/(chunks|commonjs|types|ui)\/[\w./-]+$/,
  /^dist\/(bill-of-materials\.cdx|bundled-seed)\.json$/,
  /^dist\/third-party-licenses\.txt$/,
  /^(docs|extensions|scenarios|seeds|skills|spec|starter)\/[\w./-]+\.(json|md|png|proto|ya?ml)$/,
]
/** What users find by its path. */
const REQUIRED = [
  'dist/cli.js',
  'dist/index.js',
  'dist/index.cjs',
  'dist/third-party-licenses.txt',
  'dist/bill-of-materials.cdx.json',
]

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

interface Tarball extends Packed {
  readonly file: string
}

interface Bill {
  readonly components: readonly { readonly name: string; readonly version: string }[]
}

const folder = mkdtempSync(join(tmpdir(), 'toolmock-release-'))
try {
  checkVersions()
  await checkWorkflows()
  const first = pack(ROOT, 'first')
  checkContents(first)
  await checkBill()
  if (process.argv.includes('--second-build')) checkSecondBuild(first)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function checkVersions(): void {
  const { version } = manifestOf(ROOT)
  const notes = releaseNotes(readFileSync(`${ROOT}CHANGELOG.md`, 'utf8'), version, process.env.RELEASE_TAG)
  const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as { version: string }
  const python = /^version = "(.*)"$/m.exec(readFileSync(`${ROOT}integrations/pytest/pyproject.toml`, 'utf8'))?.[1]
  const { version: testcontainers } = manifestOf(`${ROOT}integrations/testcontainers`)
  const others = {
    'package-lock.json': lock.version,
    'integrations/testcontainers/package.json': testcontainers,
    'integrations/pytest/pyproject.toml': python,
  }
  for (const [file, found] of Object.entries(others))
    if (found !== version) throw new Error(`${file} has version ${found ?? 'none'}, and package.json ${version}`)
  console.log(
    `version ${version} in package.json, CHANGELOG.md, ${Object.keys(others).join(', ')}; ${notes.length} characters of notes`,
  )
}

async function checkWorkflows(): Promise<void> {
  const problems = await workflowProblems()
  if (problems.length > 0) throw new Error(`the workflows have problems:\n${problems.join('\n')}`)
  console.log('workflows: nothing found by actionlint; every action is pinned, every job names its permissions')
}

/** Packs a folder with its `dist`. */
function pack(root: string, into: string): Tarball {
  const target = join(folder, into)
  mkdirSync(target)
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], root)
  const [found] = JSON.parse(packed) as [Packed]
  return { ...found, file: join(target, found.filename) }
}

/** Each folder of the package with what it contains. */
function checkContents({ filename, size, files }: Packed): void {
  const paths = files.map(({ path }) => path)
  const others = paths.filter((path) => !PUBLISHED.some((each) => each.test(path)))
  if (others.length > 0) throw new Error(`these files are not meant to be published: ${others.join(', ')}`)
  const missing = REQUIRED.filter((path) => !paths.includes(path))
  if (missing.length > 0) throw new Error(`the package lacks ${missing.join(', ')}`)
  console.log(`${filename}: ${files.length} files, ${kilobytes(size)} packed`)
  const folderOf = (path: string): string => /^(dist\/)?[^/]+\//.exec(path)?.[0] ?? path
  for (const part of new Set(paths.map(folderOf))) {
    const all = files.filter(({ path }) => folderOf(path) === part)
    console.log(`  ${part}: ${plural(all.length, 'file')}, ${kilobytes(all.reduce((sum, each) => sum + each.size, 0))}`)
  }
}

async function checkBill(): Promise<void> {
  const text = readFileSync(`${ROOT}dist/bill-of-materials.cdx.json`, 'utf8')
  const { Spec, Validation } = createRequire(`${ROOT}.config/`)('@cyclonedx/cyclonedx-library') as Library
  const problem = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  if (problem !== null) throw new Error(`dist/bill-of-materials.cdx.json is not CycloneDX: ${JSON.stringify(problem)}`)
  const { components } = JSON.parse(text) as Bill
  const licenses = readFileSync(`${ROOT}dist/third-party-licenses.txt`, 'utf8').split(`\n${'-'.repeat(80)}\n\n`)
  const licensed = licenses.flatMap((each) => (each.split('\n\n', 1)[0] ?? '').split('\n'))
  const without = components.filter(
    ({ name, version }) => !licensed.some((line) => line.startsWith(`${name} ${version} (`)),
  )
  if (without.length > 0) throw new Error(`no license text of ${without.map(({ name }) => name).join(', ')}`)
  console.log(
    `bill of materials: valid CycloneDX 1.6, ${components.length} bundled packages, each with its license and text`,
  )
}

interface Library {
  readonly Spec: { readonly Version: { readonly v1dot6: string } }
  readonly Validation: {
    readonly JsonStrictValidator: new (version: string) => { validate(text: string): Promise<unknown> }
  }
}

function checkSecondBuild(first: Tarball): void {
  const second = pack(buildElsewhere(), 'second')
  const [one, two] = [first, second].map(({ file }) => createHash('sha256').update(readFileSync(file)).digest('hex'))
  if (one !== two) throw new Error(`two builds differ: ${differences(first.file, second.file)}`)
  console.log(`two builds in two folders, one checksum: sha256 ${one}  ${first.filename}`)
}

/** Copies the files that git has, and builds them in the new folder. */
function buildElsewhere(): string {
  const elsewhere = join(folder, 'a-folder-of-another-name')
  for (const path of run('git', ['ls-files', '-z'], ROOT).split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(elsewhere, path)), { recursive: true })
    cpSync(ROOT + path, join(elsewhere, path))
  }
  run('npm', ['ci', '--prefer-offline', '--ignore-scripts'], elsewhere)
  run('npm', ['run', 'build'], elsewhere)
  return elsewhere
}

/** The files that two tarballs have with different content. */
function differences(...tarballs: readonly string[]): string {
  const [one = '', two = ''] = tarballs.map((tarball, at) => {
    const target = join(folder, `unpacked-${at}`)
    mkdirSync(target)
    run('tar', ['-xzf', tarball, '-C', target], folder)
    return target
  })
  try {
    return run('diff', ['-rq', one, two], folder) || 'only in how they are packed'
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} kB`
}

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 28 })
}
