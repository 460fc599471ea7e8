import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import pg from 'pg'
import { inject } from 'vitest'
import { type App, type AppOptions, createApp } from '../../src/app/app.ts'
import { type Log, SILENT } from '../../src/servers/http/log.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the database that has the state of the tests; undefined where it is a file or the memory. */
    postgres: string | undefined
  }
}

/** Schemas of this process whose app is closed: making tables takes longer than emptying them. */
const free: string[] = []
let made = 0
let admin: pg.Pool | undefined

/**
 * Starts an app. The project `postgres` runs the same tests with the state in a database, each app in a schema of its own.
 * One that names a state file gets the schema of that name, which the next start of the same file finds again. One with a
 * disk of the test keeps it.
 */
export async function createTestApp(options: AppOptions): Promise<App> {
  const url = inject('postgres')
  if (url === undefined || options.fileSystem) return createApp(options)
  const { state, log = SILENT } = options
  const schema = state ? `file_${digest(state)}` : (free.pop() ?? `app_${process.pid}_${++made}`)
  const left = new EventEmitter()
  const noticing: Log = {
    ...log,
    info: (message, fields) => {
      log.info(message, fields)
      if (message.startsWith('this replica has left')) left.emit('left')
    },
  }
  const app = await createApp({ ...options, log: noticing, state: url, stateSchema: schema })
  const close = app.close.bind(app)
  let closing: Promise<void> | undefined
  app.close = () => (closing ??= closed())
  const closed = async (): Promise<void> => {
    // It waits for the others to look again, although there are none: the next app need not.
    const hasLeft = once(left, 'left')
    await Promise.race([hasLeft, close()])
    if (state) return
    await (admin ??= adminOf(url)).query(
      `delete from ${schema}.files; delete from ${schema}.replicas; update ${schema}.leader set clock_offset = null`,
    )
    free.push(schema)
  }
  try {
    // A replica becomes active once it listens.
    const bound = await app.listen({ host: '127.0.0.1', port: 0 })
    app.listen = () => Promise.resolve(bound)
    if (app.standsBy) throw new Error('the replica of a test is not active')
    return app
  } catch (error) {
    await app.close()
    throw error
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** Connections that keep no process alive and may break when the database stops. */
function adminOf(url: string): pg.Pool {
  return new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true }).on('error', () => undefined)
}
