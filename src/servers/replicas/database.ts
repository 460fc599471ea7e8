import { jsonText } from '../../model/domain/json.ts'
import pg from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { StartError } from '../../model/domain/start-error.ts'
import { RandomIds } from '../../state/model/time-and-ids.ts'
import { type Guard, guardText, SCHEMA_VERSION, schemaText } from './schema.ts'

/** The row that says which replica is active, and until when by the clock of the database. */
export interface Leader {
  readonly epoch: number
  /** Null before the first takeover. */
  readonly id: string | null
  readonly url: string | null
  readonly expires_at: string | null
  /** Milliseconds until the lease ends; 0 or less when any replica may take over. */
  readonly left_ms: number
  /** What the environments' real time is now, in milliseconds since the Unix epoch; null before the first takeover. */
  readonly clock: number | null
  /** Of the tables; a newer toolmock may have raised it. */
  readonly schema_version: number
}

/** What a replica tells the others about itself. */
export interface ReplicaRow {
  readonly id: string
  readonly url: string
  readonly version: string
  /** The options that all replicas should have in common, as texts that hold no secret. */
  readonly settings: Readonly<Record<string, string>>
}

/** What is of the whole database, and of how it stores. */
export interface Meta {
  readonly version: number
  readonly secret: string
  readonly synchronous_commit: string
  readonly synchronous_standby_names: string
}

/** The name of the state file in the database. */
export const STATE_NAME = 'state.json'

const DIVISION_BY_ZERO = '22012'
export const UNDEFINED_TABLE = '42P01'

const CONNECTIONS = 6
const CONNECT_WITHIN_MS = 3000

/** Replicas that were not seen for this time are listed no more. */
const SEEN_WITHIN = `interval '30 seconds'`

/** The clock of the database, in milliseconds since the Unix epoch: once in a statement, so that a row that is written and returned agrees. */
const NOW_MS = '(extract(epoch from statement_timestamp()) * 1000)::float8'

/** The tables of one toolmock in PostgreSQL. Each call is one round trip; no transaction and no lock outlives one. */
export class Database {
  /** The address without user and password. */
  readonly place: string
  readonly #pool: pg.Pool
  readonly #schema: string
  readonly #waitMs: number

  /** @param waitMs how long an answer is waited for before the outcome of a statement counts as unknown */
  constructor(url: string, schema: string, waitMs: number) {
    const config = configOf(url)
    this.#schema = schema
    this.#waitMs = waitMs
    this.place = databasePlace(config, schema)
    this.#pool = new pg.Pool({
      application_name: 'toolmock',
      ...config,
      max: CONNECTIONS,
      connectionTimeoutMillis: Math.min(CONNECT_WITHIN_MS, waitMs),
      keepAlive: true,
    })
    // A connection that breaks while it is idle is replaced by the next statement.
    this.#pool.on('error', () => undefined)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  /** Makes the tables, or checks that this version knows them. @throws StartError */
  async open(): Promise<Meta> {
    try {
      let meta = await this.#readMeta().catch((error: unknown) => {
        if (sqlState(error) === UNDEFINED_TABLE) return undefined
        throw error
      })
      if (!meta || meta.version < SCHEMA_VERSION) {
        await this.#runTransaction(schemaText(this.#schema, new RandomIds().id('secret')))
        meta = await this.#readMeta()
      }
      if (meta.version > SCHEMA_VERSION) throw new StartError(this.newerSchema(meta.version))
      return meta
    } catch (error) {
      if (error instanceof StartError) throw error
      throw new StartError(`${this.place}: the database cannot be used: ${databaseFailure(error)}`)
    }
  }

  newerSchema(version: number): string {
    return `${this.place}: its tables are of version ${version}, and this toolmock knows version ${SCHEMA_VERSION}; a newer toolmock has migrated them. Use that one, or another --state-schema`
  }

  leader(): Promise<Leader> {
    return this.#readLeader('')
  }

  /** As `leader`, and tells the others that this replica is there. */
  announce({ id, url, version, settings }: ReplicaRow): Promise<Leader> {
    return this.#readLeader(
      `with seen as (insert into $s.replicas values ($1, $2, $3, $4, clock_timestamp()) on conflict (id) do update
         set url = excluded.url, settings = excluded.settings, seen_at = excluded.seen_at),
       gone as (delete from $s.replicas where id <> $1 and seen_at < clock_timestamp() - ${SEEN_WITHIN})`,
      [id, url, version, jsonText(settings)],
    )
  }

  replicas(): Promise<(ReplicaRow & { readonly seen_at: string })[]> {
    return this.rows(
      `select id, url, version, settings, to_json(seen_at) #>> '{}' as seen_at from $s.replicas
         where seen_at > clock_timestamp() - ${SEEN_WITHIN} order by url, id`,
    )
  }

  async forget(id: string): Promise<void> {
    await this.rows('delete from $s.replicas where id = $1', [id])
  }

  /**
   * Waits for commits in flight, and then looks at the row again. Undefined while another replica has the lease.
   * @param now by the clock of the replica; `ahead` is how much further the clock of those before was
   */
  async takeOver(
    id: string,
    url: string | null,
    leaseMs: number,
    now: number,
  ): Promise<{ readonly epoch: number; readonly ahead: number } | undefined> {
    const [row] = await this.rows<{ epoch: string; ahead: number }>(
      `update $s.leader set epoch = epoch + 1, fence = 0, id = $1, url = $2, expires_at = clock_timestamp() + make_interval(secs => $3),
         clock_offset = greatest(clock_offset, $5::float8 - ${NOW_MS})
         where (expires_at is null or expires_at < clock_timestamp()) and (select version from $s.meta) <= $4
         returning epoch, clock_offset - $5::float8 + ${NOW_MS} as ahead`,
      [id, url, leaseMs / 1000, SCHEMA_VERSION, now],
    )
    return row && { epoch: Number(row.epoch), ahead: Math.max(0, Math.floor(row.ahead)) }
  }

  /** False when the lease is over. @param now what the environments' real time is */
  async renew(epoch: number, leaseMs: number, now: number): Promise<boolean> {
    const rows = await this.rows(
      `update $s.leader set expires_at = clock_timestamp() + make_interval(secs => $2),
         clock_offset = greatest(clock_offset, $3::float8 - ${NOW_MS})
         where epoch = $1 and expires_at > clock_timestamp() returning epoch`,
      [epoch, leaseMs / 1000, now],
    )
    return rows.length > 0
  }

  async release(epoch: number): Promise<void> {
    await this.rows('update $s.leader set expires_at = clock_timestamp() where epoch = $1', [epoch])
  }

  /** Waits for statements that are being executed; those of a lower fence that come later change nothing. False when the guard is over. */
  async raiseFence({ epoch, fence }: Guard): Promise<boolean> {
    const rows = await this.rows('update $s.leader set fence = $2 where epoch = $1 and fence < $2 returning epoch', [
      epoch,
      fence,
    ])
    return rows.length > 0
  }

  /** Adds bytes to a file, in one statement. Undefined when the guard is over: nothing was added. */
  async append({ epoch, fence }: Guard, file: string, position: number, bytes: Buffer): Promise<true | undefined> {
    const [row] = await this.rows<{ ok: boolean }>(
      `with g as (select 1 from $s.leader where epoch = $1 and fence = $5 for share),
         i as (insert into $s.chunks select $2, $3, $1, $4 from g) select exists(select from g) as ok`,
      [epoch, file, position, bytes, fence],
    )
    return row?.ok === true || undefined
  }

  /** Statements that all succeed or change nothing; the rows of the last one. Undefined when the guard is over. */
  async change(guard: Guard, statements: string): Promise<readonly object[] | undefined> {
    try {
      return (await this.#runTransaction(`${guardText(guard)}; ${statements}`)).at(-1)?.rows ?? []
    } catch (error) {
      if (sqlState(error) === DIVISION_BY_ZERO) return undefined
      throw error
    }
  }

  /** `$s` stands for the schema. */
  async rows<Row extends object>(text: string, values: readonly unknown[] = [], more: object = {}): Promise<Row[]> {
    const query = { ...this.#queryConfig(text), values: [...values], ...more }
    return (await this.#pool.query<Row>(query)).rows
  }

  /** All files, as they are at one moment. */
  async everything(): Promise<Map<string, Buffer>> {
    const rows = await this.#rowsAsBytes<{ name: Buffer; bytes: Buffer }>(
      `select f.name, coalesce(string_agg(c.bytes, '' order by c.position), '') as bytes
         from $s.files f left join $s.chunks c on c.file = f.id group by f.name`,
    )
    return new Map(rows.map(({ name, bytes }) => [name.toString(), bytes]))
  }

  /** The bytes of a file that begin between two positions, in chunks. */
  async chunks(file: string, from: number, to: number): Promise<Buffer[]> {
    const rows = await this.#rowsAsBytes<{ bytes: Buffer }>(
      'select bytes from $s.chunks where file = $1 and position >= $2 and position < $3 order by position',
      [file, from, to],
    )
    return rows.map(({ bytes }) => bytes)
  }

  /** Each column as the bytes that come over the wire: their text form is twice as long. */
  #rowsAsBytes<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    const types = { getTypeParser: () => (value: Buffer) => value }
    return this.rows(text, values, { binary: true, queryMode: 'extended', types })
  }

  async #readMeta(): Promise<Meta> {
    const [row] = await this.rows<Meta>(
      `select version, secret, current_setting('synchronous_commit') as synchronous_commit,
         current_setting('synchronous_standby_names') as synchronous_standby_names from $s.meta`,
    )
    if (!row) throw new Error('the table meta is empty')
    return row
  }

  async #readLeader(before: string, values: readonly unknown[] = []): Promise<Leader> {
    const [row] = await this.rows<Leader & { epoch: string }>(
      `${before} select epoch, id, url, to_json(expires_at) #>> '{}' as expires_at,
         coalesce(extract(epoch from expires_at - clock_timestamp()) * 1000, 0)::float8 as left_ms,
         clock_offset + ${NOW_MS} as clock, (select version from $s.meta) as schema_version from $s.leader`,
      values,
    )
    if (!row) throw new Error('the table leader is empty')
    return { ...row, epoch: Number(row.epoch) }
  }

  /** A text of several statements is one transaction, in one round trip. */
  async #runTransaction(text: string): Promise<pg.QueryResult<object>[]> {
    const results: unknown = await this.#pool.query(this.#queryConfig(text))
    return (Array.isArray(results) ? results : [results]) as pg.QueryResult<object>[]
  }

  #queryConfig(text: string): { readonly text: string; readonly query_timeout: number } {
    return { text: text.replaceAll('$s.', `"${this.#schema}".`), query_timeout: this.#waitMs }
  }
}

export function sqlLiteral(text: string): string {
  return pg.escapeLiteral(text)
}

/** Whether the database said that it did not do something. After anything else it may have done it. */
export function isRefusal(error: unknown): boolean {
  const code = sqlState(error)
  return code !== undefined && !/^(08|57)/.test(code)
}

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** A message never has the password: neither pg nor PostgreSQL puts it into one. */
export function databaseFailure(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(databaseFailure).join('; ')
  return error instanceof Error ? error.message : String(error)
}

function configOf(url: string): pg.PoolConfig {
  try {
    return parseIntoClientConfig(url)
  } catch (error) {
    // The URL has a password, and the message may quote the URL.
    const why = error instanceof Error && 'path' in error ? `: ${error.message}` : ''
    throw new StartError(
      `the address of the database in --state cannot be read${why}; it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE`,
    )
  }
}

function databasePlace({ host, port, database }: pg.PoolConfig, schema: string): string {
  const address = host?.startsWith('/') ? '' : `${host ?? 'localhost'}:${port ?? 5432}`
  return `postgres://${address}/${database ?? ''}/${schema}`
}
