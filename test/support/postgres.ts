import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.ts'

const DEBIAN = '/usr/lib/postgresql'

/** The folder of PostgreSQL's programs, as Debian has them; undefined where they are missing. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined
  const [newest] = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a))
  const folder = join(DEBIAN, newest ?? '', 'bin')
  return existsSync(join(folder, 'initdb')) ? folder : undefined
}

/** A PostgreSQL of the test, in a folder of its own on a free port of loopback. */
export class TestPostgres {
  readonly #folder: string
  readonly #port: number
  #schemas = 0

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
  }

  static async start(): Promise<TestPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'toolmock-postgres-'))
    chmodSync(folder, 0o777)
    run('initdb', '-D', join(folder, 'data'), '-A', 'trust', '-U', 'postgres', '--no-sync')
    const server = new TestPostgres(folder, await freePort())
    await server.resume()
    return server
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`
  }

  /** The name of a schema that no other test of this file has. */
  schema(): string {
    this.#schemas += 1
    return `schema_${this.#schemas}`
  }

  async resume(): Promise<void> {
    const { command, args } = as(
      'postgres',
      ...['-D', join(this.#folder, 'data'), '-p', String(this.#port), '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', `unix_socket_directories=${this.#folder}`, '-c', 'max_connections=200'],
    )
    spawn(command, args, { stdio: 'ignore', cwd: this.#folder })
    for (;;) {
      const client = new pg.Client({ connectionString: this.url })
      try {
        await client.connect()
        return
      } catch {
        await pause(20)
      } finally {
        await client.end().catch(() => undefined)
      }
    }
  }

  /** Ends every session without a last word, as a crash does. */
  kill(mode: 'immediate' | 'fast' = 'immediate'): void {
    run('pg_ctl', '-D', join(this.#folder, 'data'), '-m', mode, 'stop')
  }

  async query<Row extends object>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  async stop(): Promise<void> {
    this.kill()
    await pause(0)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** `initdb` and `postgres` refuse root. */
function as(program: string, ...given: string[]): { command: string; args: string[] } {
  const path = join(postgresPrograms() ?? '', program)
  if (process.getuid?.() !== 0) return { command: path, args: given }
  return { command: 'runuser', args: ['-u', 'postgres', '--', path, ...given] }
}

function run(program: string, ...given: string[]): void {
  const { command, args } = as(program, ...given)
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: tmpdir() })
}
