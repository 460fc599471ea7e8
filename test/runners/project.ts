import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify, stripVTControlCharacters } from 'node:util'
import { beforeAll, onTestFinished } from 'vitest'
import { ROOT } from '../../.build/project.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'

export interface Run {
  readonly code: number | null
  readonly output: string
}

/** Projects in which the packed package is installed, and a test runner. */
export class RunnerProjects {
  readonly #toolmock = ToolmockProcess.forThisFile()
  #installed = ''

  static forThisFile(): RunnerProjects {
    const projects = new RunnerProjects()
    beforeAll(() => projects.#install())
    return projects
  }

  /** A project with these files, and with the packages of the runner. */
  async project(files: Readonly<Record<string, string>>, packages: readonly string[] = []): Promise<string> {
    const folder = await mkdtemp(this.#toolmock.path('project-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await cp(this.#installed, folder, { recursive: true })
    for (const name of packages) {
      const link = join(folder, 'node_modules', name)
      await mkdir(dirname(link), { recursive: true })
      await symlink(packageFolder(name), link)
    }
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    return folder
  }

  /** Runs a script with Node in a project, without the variables by which one test runner knows another. */
  async run(cwd: string, args: readonly string[], variables: Record<string, string> = {}): Promise<Run> {
    const { env: own } = this.#toolmock.command([])
    const inherited = Object.entries(own).filter(
      ([name]) => !/^(CI$|GITHUB_|JEST_|PLAYWRIGHT_|PW_|TEST|FORCE_COLOR)/.test(name),
    )
    const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', ...variables }
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code: code as number | null, output: stripVTControlCharacters(`${out}\n${err}`) }
  }

  /** Packs the build of this run as it is published, but for its types and documents, and installs the archive. */
  async #install(): Promise<void> {
    const packed = this.#toolmock.path('packed')
    await cp(this.#toolmock.path('package'), packed, { recursive: true, dereference: true })
    this.#installed = this.#toolmock.path('installed')
    await mkdir(this.#installed)
    const npm = (cwd: string, ...args: string[]) => promisify(execFile)('npm', [...args, '--ignore-scripts'], { cwd })
    const { stdout } = await npm(packed, 'pack', '--json', '--pack-destination', this.#installed)
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
    await writeFile(join(this.#installed, 'package.json'), '{ "private": true }')
    await npm(this.#installed, 'install', '--offline', '--no-audit', '--no-fund', `./${filename}`)
  }
}

const requireFrom = (folder: string) => createRequire(join(ROOT, folder, 'package.json'))

/** Vitest is a package of the whole project, the other runners are of this folder. */
function packageFolder(name: string): string {
  const require = requireFrom(name === 'vitest' ? '.' : 'test/runners')
  return dirname(require.resolve(`${name}/package.json`))
}
