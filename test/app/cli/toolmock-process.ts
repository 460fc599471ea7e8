import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, symlinkSync } from 'node:fs'
import { copyFile, cp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, inject } from 'vitest'
import { ROOT } from '../../../.build/project.ts'
import { runProgram } from '../../../src/app/cli/program.ts'

type Variables = Record<string, string>

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface Command {
  readonly command: string
  readonly args: string[]
  readonly cwd: string
  readonly env: Variables
}

interface Beginning {
  readonly variables?: Variables
  readonly cwd?: string
  /** The content of stdin, which is empty when absent. */
  readonly input?: string | Buffer
}

interface Begun {
  readonly child: ChildProcess
  readonly end: Promise<{ code: number | null; stdout: Buffer; stderr: Buffer }>
}

interface Lines {
  /** The next line; undefined after the last one. */
  readonly next: () => Promise<string | undefined>
  /** `rest` are the lines that `next` did not return. */
  readonly end: Promise<{ code: number | null; stderr: string; rest: string[] }>
}

export interface Serving {
  /** The first line on stdout. */
  firstLine: string
  url: string
  child: ChildProcess
  /** The lines on stderr since the last call, up to and including the first that matches. */
  logged(line: RegExp): Promise<string[]>
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/**
 * The command line as users run it: the bundle in a folder without installed packages. Each run is a process without the
 * `TOOLMOCK_…` variables of this process, in an empty working directory.
 */
export class ToolmockProcess {
  readonly folder = mkdtempSync(join(tmpdir(), 'toolmock-cli-'))
  readonly #children = new Set<ChildProcess>()

  static forThisFile<Toolmock extends ToolmockProcess>(this: new () => Toolmock): Toolmock {
    const toolmock = new this()
    // On a machine with other work a build takes more than a minute.
    beforeAll(() => writePackage(toolmock.folder), 300_000)
    afterAll(() => toolmock.#clear())
    return toolmock
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** How another program starts it. */
  command(args: readonly string[], variables: Variables = {}): Command {
    const own = Object.entries(process.env).filter(([name]) => !/^(TOOLMOCK_|NODE_|VITEST)/.test(name))
    return {
      command: process.execPath,
      args: [this.path('package/dist/cli.js'), ...args],
      cwd: this.folder,
      env: { ...(Object.fromEntries(own) as Variables), PWD: this.folder, TMPDIR: this.folder, ...variables },
    }
  }

  /** Runs to its end. */
  async run(args: readonly string[], variables: Variables = {}): Promise<Ended> {
    return this.#ended(this.#spawn(args, variables))
  }

  /** Starts with a given input and environment; the caller can send signals while it runs. */
  begin(args: readonly string[], { variables = {}, cwd, input }: Beginning = {}): Begun {
    const child = this.#spawn(args, variables, { cwd, stdin: input === undefined ? 'ignore' : 'pipe' })
    const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    for (const name of ['stdout', 'stderr'] as const) child[name]!.on('data', (part: Buffer) => said[name].push(part))
    child.stdin?.end(input)
    const end = once(child, 'close').then((ended: unknown[]) => {
      this.#children.delete(child)
      return { code: ended[0] as number | null, stdout: Buffer.concat(said.stdout), stderr: Buffer.concat(said.stderr) }
    })
    return { child, end }
  }

  /** Starts; the caller reads the output line by line. */
  lines(args: readonly string[], variables: Variables = {}): Lines {
    const child = this.#spawn(args, variables)
    const reader = createInterface({ input: child.stdout! })
    const rest: string[] = []
    reader.on('line', (line) => rest.push(line))
    const end = this.#ended(child).then(({ code, stderr }) => ({ code, stderr, rest }))
    return {
      next: async () => {
        if (rest.length === 0) await Promise.race([once(reader, 'line'), end])
        return rest.shift()
      },
      end,
    }
  }

  /** Runs `start` on a free port until its first line; fails with the output when it ends before that. */
  async start(args: readonly string[], variables: Variables = {}): Promise<Serving> {
    const child = this.#spawn(['start', ...args], { TOOLMOCK_PORT: '0', ...variables })
    const end = this.#ended(child)
    const logged = linesUntil(child.stderr!)
    const lines = createInterface({ input: child.stdout! })
    const first = await Promise.race([once(lines, 'line') as Promise<[string]>, end])
    if (!Array.isArray(first)) throw new Error(`toolmock ended with ${first.code ?? 'a signal'}: ${first.stderr}`)
    const [firstLine] = first
    const url = /https?:\/\/[^\s"]+/.exec(firstLine)?.[0] ?? ''
    const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
      child.kill(signal)
      return end
    }
    return { firstLine, url, child, logged, stop }
  }

  #spawn(
    args: readonly string[],
    variables: Variables,
    { cwd = this.folder, stdin = 'ignore' }: { cwd?: string | undefined; stdin?: 'ignore' | 'pipe' } = {},
  ): ChildProcess {
    const { command, args: all, env } = this.command(args, variables)
    const child = spawn(command, all, { cwd, env, stdio: [stdin, 'pipe', 'pipe'] })
    this.#children.add(child)
    return child
  }

  async #ended(child: ChildProcess): Promise<Ended> {
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]!.setEncoding('utf8').on('data', (text: string) => {
        said[name] += text
      })
    }
    const [code] = (await once(child, 'close')) as [number | null]
    this.#children.delete(child)
    return { code, ...said }
  }

  async #clear(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await rm(this.folder, { recursive: true, force: true })
  }
}

/**
 * The command line of the sources in this process, for tests of what a command prints and writes.
 */
export class ToolmockProgram extends ToolmockProcess {
  constructor() {
    super()
    beforeAll(() => process.chdir(this.folder))
    afterAll(() => process.chdir(ROOT))
  }

  override async run(args: readonly string[], variables: Variables = {}): Promise<Ended> {
    // Servers, the output of a child, and authorities, which Node reads when it starts, are those of a process.
    const isProcess = ['run', 'start'].includes(args[0] ?? '') || variables['NODE_EXTRA_CA_CERTS'] !== undefined
    if (isProcess) return super.run(args, variables)
    const said = { stdout: '', stderr: '' }
    const code = await runProgram(args, {
      variables: this.command([], variables).env,
      out: (line) => (said.stdout += `${line}\n`),
      err: (line) => (said.stderr += `${line}\n`),
    })
    return { code, ...said }
  }
}

/** Puts the package as npm installs it into `package` of a folder, so that `package/dist/cli.js` is the command line. */
export async function writePackage(folder: string): Promise<void> {
  await cp(await bundleOfTheRun(), join(folder, 'package/dist'), { recursive: true })
  for (const name of ['seeds', 'scenarios', 'extensions', 'starter', 'spec', 'package.json'])
    symlinkSync(join(ROOT, name), join(folder, 'package', name))
}

/** The `dist` of the command line, which the first test file that needs it builds. */
async function bundleOfTheRun(): Promise<string> {
  const folder = inject('testBuild')
  const dist = join(folder, 'dist')
  if (existsSync(dist)) return dist
  const { bundleCode } = await import('../../../.build/bundle.ts')
  const made = mkdtempSync(join(folder, 'making-'))
  await bundleCode(made)
  await copyFile(join(folder, 'bundled-seed.json'), join(made, 'bundled-seed.json'))
  // The rename is atomic. It fails when another worker has already put its build there.
  await rename(made, dist).catch((error: unknown) => {
    if (!existsSync(dist)) throw error
  })
  return dist
}

function linesUntil(stream: Readable): (line: RegExp) => Promise<string[]> {
  const lines: string[] = []
  const reader = createInterface({ input: stream })
  reader.on('line', (line) => lines.push(line))
  return async (wanted) => {
    for (;;) {
      const at = lines.findIndex((line) => wanted.test(line))
      if (at >= 0) return lines.splice(0, at + 1)
      await once(reader, 'line')
    }
  }
}
