import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { serveAndStop } from '../package-server.ts'
import { manifestOf, ROOT } from '../project.ts'
import { buildBinaries } from './build.ts'
import { BINARIES, binaryName, HOST, PLATFORMS } from './platforms.ts'

// `npm run check:binary` makes the executable of each platform, and uses that of this machine in an empty folder.

/** `slowdown` is that of a start, beside `node dist/cli.js`. */
const BOUNDS = { megabytes: 130, slowdown: 1.3 }

/** The fastest start of each counts: a machine that does something else makes single ones slow. */
const STARTS = 10

await buildBinaries(PLATFORMS)
for (const platform of PLATFORMS) {
  const megabytes = statSync(join(BINARIES, binaryName(platform))).size / 1e6
  const line = `${binaryName(platform)}: ${megabytes.toFixed(0)} MB${platform === HOST ? '' : ', not run'}`
  if (megabytes > BOUNDS.megabytes) throw new Error(`${line}; at most ${BOUNDS.megabytes} MB are published`)
  console.log(line)
}
const toolmock = join(BINARIES, binaryName(HOST))
const folder = mkdtempSync(join(tmpdir(), 'toolmock-binary-check-'))
const project = join(folder, 'project')
mkdirSync(project)
try {
  checkCommands()
  await serveAndStop([toolmock])
  await checkDetached()
  await checkStart()
  checkFormula()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function checkCommands(): void {
  if (run('--version') !== manifestOf(ROOT).version) throw new Error(`--version prints ${run('--version')}`)
  expectText(run('--help'), `Usage: ${toolmock} [COMMAND]`)
  expectText(run('init'), 'wrote toolmock.config.yaml')
  expectText(run('validate', 'toolmock'), 'toolmock/seeds/default.yaml: a valid seed file')
}

/** The server is the same file, started again, with the seed that `init` has written beside the bundled one. */
async function checkDetached(): Promise<void> {
  run('start', '--detach', '--in-memory', '--port', '0')
  try {
    const url = /TOOLMOCK_URL=(\S+)/.exec(run('env'))?.[1] ?? ''
    const list = run('scenario', 'list', '--url', url)
    for (const name of readdirSync(`${ROOT}scenarios`)) expectText(list, name.replace('.yaml', ''))
    for (const name of readdirSync(`${ROOT}dist/ui`)) {
      const file = new Uint8Array(await (await fetch(`${url}/_mock/ui/${name}`)).arrayBuffer())
      if (!readFileSync(`${ROOT}dist/ui/${name}`).equals(file)) throw new Error(`the dashboard has another ${name}`)
    }
  } finally {
    expectText(run('stop'), 'stopped http://127.0.0.1:')
  }
}

async function checkStart(): Promise<void> {
  const commands = { file: [toolmock], node: [process.execPath, `${ROOT}dist/cli.js`] }
  const fastest = { file: Infinity, node: Infinity }
  for (let round = 0; round < STARTS; round++)
    for (const name of ['file', 'node'] as const)
      fastest[name] = Math.min(fastest[name], await startTime(commands[name]))
  const slowdown = fastest.file / fastest.node
  const line = `a start takes ${fastest.file.toFixed(0)} ms, ${slowdown.toFixed(2)} times that of node dist/cli.js with Node ${process.version}`
  if (slowdown > BOUNDS.slowdown) throw new Error(`${line}; at most ${BOUNDS.slowdown}`)
  console.log(line)
}

/** Milliseconds until the line that says that it serves. */
async function startTime([command = '', ...args]: readonly string[]): Promise<number> {
  const began = performance.now()
  const all = [...args, 'start', '--in-memory', '--port', '0', '--json']
  const server = spawn(command, all, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(server, 'exit')
  await once(createInterface(server.stdout), 'line')
  const milliseconds = performance.now() - began
  server.kill('SIGTERM')
  await exit
  return milliseconds
}

/** Its syntax, where there is a Ruby. Homebrew has not read it. */
function checkFormula(): void {
  const { error, status, stderr } = spawnSync('ruby', ['-c', join(BINARIES, 'toolmock.rb')], { encoding: 'utf8' })
  if (error === undefined && status !== 0) throw new Error(stderr)
  const formula = readFileSync(join(BINARIES, 'toolmock.rb'), 'utf8')
  for (const line of readFileSync(join(BINARIES, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')) {
    const [checksum = '', name = ''] = line.split(/ +/)
    if (!name.endsWith('.exe')) expectText(formula, checksum)
  }
}

function expectText(output: string, text: string): void {
  if (!output.includes(text)) throw new Error(`${JSON.stringify(text)} is missing in:\n${output}`)
}

/** Runs the executable in an own folder, without a Node in its PATH. */
function run(...args: readonly string[]): string {
  const env = { PATH: '/usr/bin:/bin', HOME: folder }
  return execFileSync(toolmock, args, { cwd: project, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}
