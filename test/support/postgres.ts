import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { until } from './until.ts'
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
  readonly port: number
  readonly #folder: string
  readonly #login: string
  #schemas = 0

  private constructor(folder: string, port: number, login: string) {
    this.#folder = folder
    this.port = port
    this.#login = login
  }

  /** @param password asked of every connection; none when absent */
  static async start(user = 'postgres', password?: string): Promise<TestPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'toolmock-postgres-'))
    chmodSync(folder, 0o777)
    writeFileSync(join(folder, 'password'), password ?? '-')
    const method = password === undefined ? 'trust' : 'scram-sha-256'
    const login = ['-A', method, '-U', user, '--pwfile', join(folder, 'password')]
    run('initdb', '-D', join(folder, 'data'), ...login, '--no-sync')
    const server = new TestPostgres(folder, await freePort(), password === undefined ? user : `${user}:${password}`)
    await server.resume()
    return server
  }

  get url(): string {
    return `postgres://${this.#login}@127.0.0.1:${this.port}/postgres`
  }

  /** The name of a schema that no other test of this file has. */
  schema(): string {
    this.#schemas += 1
    return `schema_${this.#schemas}`
  }

  async resume(): Promise<void> {
    const { command, args } = as(
      'postgres',
      ...['-D', join(this.#folder, 'data'), '-p', String(this.port), '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', `unix_socket_directories=${this.#folder}`, '-c', 'max_connections=200'],
    )
    spawn(command, args, { stdio: 'ignore', cwd: this.#folder })
    const isServing = () =>
      this.query('select').then(
        () => true,
        () => false,
      )
    await until(isServing)
  }

  /** Answers those that ask for TLS, with a certificate and its key in PEM form; others as before. */
  async serveTls(credentials: { readonly cert: string; readonly key: string }): Promise<void> {
    for (const [name, text] of Object.entries(credentials)) {
      const file = join(this.#folder, `${name}.pem`)
      writeFileSync(file, text, { mode: 0o600 })
      if (process.getuid?.() === 0) execFileSync('chown', ['postgres', file])
      await this.query(`alter system set ssl_${name}_file = '${file}'`)
    }
    await this.query('alter system set ssl = on')
    await this.query('select pg_reload_conf()')
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

  /** Does something while no other session can read or write a table. */
  async locked<R>(table: string, work: () => Promise<R>): Promise<R> {
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    try {
      await client.query(`begin; lock table ${table} in access exclusive mode`)
      return await work()
    } finally {
      await client.end()
    }
  }

  async stop(): Promise<void> {
    this.kill()
    await nextTurn()
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
