import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { replaceFile } from '../../platform/disk/replace-file.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { hasCode } from '../../model/domain/system-error.ts'
import { type Arguments, DETACHED } from './arguments.ts'
import type { CommandContext, Run } from './command.ts'
import { controlCall } from './control-session.ts'
import { RefusedError } from './failure.ts'
import { ownScript } from './own-program.ts'
import {
  authorityOf,
  type DetachedServer,
  detachedServer,
  FOLDER,
  healthStatus,
  isAlive,
  SERVER_FILE,
} from './running-server.ts'
import { notWritten, reportWrite } from '../../platform/disk/written-file.ts'

const LOG_FILE = join(FOLDER, 'server.log')
const POLL_MS = 50

/** A file that cannot be read for so long is not being written: it was left behind. */
const UNREADABLE_POLLS = 20

/** Ends once it is ready; the same start again starts nothing. @throws StartError when one with other settings runs */
export async function startDetached(
  args: Arguments<'start'>,
  { variables, out, err }: CommandContext,
): Promise<number | undefined> {
  const settings = detachedSettings(args)
  const print = ({ text = '', notices = [] }: Partial<NonNullable<DetachedServer['ready']>> = {}): number => {
    out(text)
    for (const line of notices) err(line)
    return 0
  }
  await reportWrite(FOLDER, () => makeDirectory(FOLDER))
  const running = await startedServer(settings)
  if (running) {
    requireSameSettings(running, settings)
    return print(running.ready)
  }
  const log = await open(LOG_FILE, 'w', 0o600)
  const child = spawn(
    process.execPath,
    [...ownScript(), 'start', ...args.argv.filter((word) => !/^--detach(=|$)/.test(word))],
    {
      detached: true,
      windowsHide: true,
      env: { ...variables, [DETACHED]: '1' },
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    },
  )
  await log.close()
  const [ready] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [
    DetachedServer['ready'] | number | null,
  ]
  if (typeof ready !== 'object' || ready === null) {
    await rm(SERVER_FILE, { force: true })
    err((await readFile(LOG_FILE, 'utf8')).trimEnd())
    return ready ?? 1
  }
  const server: DetachedServer = { pid: child.pid ?? 0, settings, ready }
  await removedUnless(() => replaceFile(SERVER_FILE, `${JSON.stringify(server, null, 2)}\n`)).catch(
    (error: unknown) => {
      child.kill()
      throw error
    },
  )
  child.disconnect()
  child.unref()
  return print(ready)
}

/** Claims the file for this start, or answers the server that has it. Waits for one that is starting. */
async function startedServer(settings: DetachedServer['settings']): Promise<DetachedServer | undefined> {
  const claim: DetachedServer = { pid: process.pid, settings }
  for (let unreadable = 0; ;) {
    const file = await open(SERVER_FILE, 'wx', 0o600).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw new StartError(notWritten(SERVER_FILE, error))
    })
    if (file) {
      await removedUnless(() => file.writeFile(JSON.stringify(claim)).finally(() => file.close()))
      return undefined
    }
    const server = detachedServer()
    const isLeft = server ? !(await isUp(server)) : ++unreadable > UNREADABLE_POLLS
    if (isLeft) {
      // Another start that found the same has claimed the file meanwhile.
      if (isDeepStrictEqual(detachedServer(), server)) rmSync(SERVER_FILE, { force: true })
    } else if (server?.ready) return server
    else await pause(POLL_MS)
  }
}

/** Removes the file when it cannot be written: half of it would be taken for a server that is starting. @throws StartError */
async function removedUnless(write: () => Promise<void>): Promise<void> {
  await reportWrite(SERVER_FILE, write).catch(async (error: unknown) => {
    await rm(SERVER_FILE, { force: true })
    throw error
  })
}

/** @throws StartError naming what differs */
function requireSameSettings(
  { pid, settings: theirs, ready }: DetachedServer,
  settings: DetachedServer['settings'],
): void {
  const differing = Object.keys({ ...theirs, ...settings }).filter(
    (name) => !isDeepStrictEqual(theirs[name], settings[name]),
  )
  if (differing.length === 0) return
  const names = differing.map((name) => `--${name}`).join(', ')
  throw new StartError(
    `a server runs already (process ${pid}, ${ready?.url ?? ''}) with another value of ${names}. Stop it first: npx toolmock stop`,
  )
}

/** As JSON has them, so that they can be compared with those of the file. The admin token is a hash there. */
function detachedSettings({ values }: Arguments<'start'>): DetachedServer['settings'] {
  const { 'admin-token': token, detach: _detach, help: _help, version: _version, ...others } = values
  const hash = token === undefined ? undefined : createHash('sha256').update(token).digest('hex')
  return JSON.parse(JSON.stringify({ ...others, 'admin-token': hash })) as DetachedServer['settings']
}

/** Whether its process is there and listens. */
async function isUp({ pid, ready }: DetachedServer): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (!ready) return true
  return healthStatus(ready.url).then(
    () => true,
    (error: unknown) => !hasCode(error, 'ECONNREFUSED'),
  )
}

/** Stops the server of `start --detach` by the control API, since a signal on Windows would end it without writing the state. */
export const stop: Run<'stop'> = async ({ values }, { out }) => {
  const server = detachedServer()
  if (!server?.ready) throw new RefusedError('no server was started here with `npx toolmock start --detach`')
  const { url, variables } = server.ready
  const wasRunning = await isUp(server)
  if (wasRunning) {
    await controlCall(
      { url, ca: authorityOf(variables), adminToken: values['admin-token'] },
      'default',
    )('POST /shutdown')
    // The server removes its file once the state is written.
    while (detachedServer()?.pid === server.pid && isAlive(server.pid)) await pause(POLL_MS)
  }
  await rm(SERVER_FILE, { force: true })
  if (values.json) out(JSON.stringify({ url, process: server.pid, was_running: wasRunning }, null, 2))
  else out(wasRunning ? `stopped ${url}` : `${url} (process ${server.pid}) had ended already`)
}
