import { createHash } from 'node:crypto'
import { readFileSync, renameSync } from 'node:fs'
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { hasCode } from '../../model/domain/system-error.ts'
import { lockPipeOf } from '../../platform/platform.ts'
import { RandomIds, type TimeSource } from '../model/time-and-ids.ts'
import { nodeFileSystem } from '../wal/file-system.ts'
import { StateError } from '../wal/state-errors.ts'

/** Held until it is released or the process dies, however it dies. */
export interface StateLock {
  release(): Promise<void>
}

const ANSWER_WITHIN_MS = 1_000
const CLAIM_EXPIRES_AFTER_MS = 5_000
const ATTEMPTS = 1000
/** Longer socket paths are refused by some systems. */
const MAX_SOCKET_PATH = 100
/** Of a state file; the lock of a longer one is called by a digest of it. */
const MAX_NAME = 40
/** What is appended to the path of a lock while it is being taken: `.claim`, and a name for the socket of as many characters. */
const CLAIM = '.claim'

/**
 * A socket beside the file that the holder listens on. The system closes it when the holder dies, so that neither a
 * reused process id nor another container's can be mistaken for a holder. @throws StateError naming the holder; for a
 * file that has another name, whose lock cannot be found
 */
export async function lockState(file: string, time: TimeSource, pipe = lockPipeOf(file)): Promise<StateLock> {
  const { nlink } = await stat(file).catch(() => ({ nlink: 1 }))
  if (nlink > 1)
    throw new StateError(
      `${file} has another name, a hard link, by which another server may have it open; start with a copy of it`,
    )
  const since = new Date(time()).toISOString()
  if (pipe !== undefined) return lockPipe(pipe, file, since)
  const lockPath = await lockPathOf(file)
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const holder = await askHolder(lockPath.address)
      if (holder !== undefined) throw heldBy(file, holder)
      const server = await takeClaimed(lockPath, since)
      if (server) return { release: () => release(server, lockPath.path) }
    }
  } finally {
    await lockPath.removeShortcut()
  }
  throw new StateError(`${lockPath.path}${CLAIM}: another start takes the lock of ${file} again and again`)
}

/** Refuses a file that a server has open, without taking its lock. @throws StateError naming the holder */
export async function refuseIfHeld(file: string, pipe = lockPipeOf(file)): Promise<void> {
  // The lock is beside the file that a symbolic link leads to.
  const path = pipe === undefined ? await lockPathOf(await nodeFileSystem.realPath(file).catch(() => file)) : undefined
  const holder = await askHolder(path?.address ?? pipe ?? '').finally(() => path?.removeShortcut())
  if (holder !== undefined) throw heldBy(file, holder)
}

function heldBy(file: string, holder: string): StateError {
  const who = /^(?<pid>\d+) (?<since>\S+)$/.exec(holder)?.groups
  const whom = who ? `process ${who['pid']} since ${who['since']}` : 'another process'
  return new StateError(`${file} is in use by ${whom}; stop it, or start with another --state file or --in-memory`)
}

interface LockPath {
  /** Beside the state file, not in `TMPDIR`. */
  readonly path: string
  /** The same path in few enough characters for a socket. */
  readonly address: string
  /** Removes the link that made the address short. */
  removeShortcut(): Promise<void>
}

/** @throws StateError when the path is too long and cannot be made shorter */
async function lockPathOf(file: string): Promise<LockPath> {
  const folder = dirname(resolve(file))
  const plain = `${resolve(file)}.lock`
  if (fitsSocketPath(plain)) return { path: plain, address: plain, removeShortcut: () => Promise.resolve() }
  const digest = createHash('sha256').update(basename(file)).digest('hex').slice(0, 16)
  const name = Buffer.byteLength(basename(file)) <= MAX_NAME ? `${basename(file)}.lock` : `.${digest}.lock`
  const path = join(folder, name)
  const shortcut = await mkdtemp(join(tmpdir(), 'toolmock-lock-')).catch((error: unknown) => {
    throw tooLong(path, `no shorter one can be made in ${tmpdir()}: ${String(error)}`)
  })
  const removeShortcut = (): Promise<void> => rm(shortcut, { recursive: true, force: true })
  const address = join(shortcut, 'to', name)
  try {
    await symlink(folder, join(shortcut, 'to'))
    if (!fitsSocketPath(address)) throw tooLong(path, `so is one in ${tmpdir()}`)
  } catch (error) {
    await removeShortcut()
    throw error
  }
  return { path, address, removeShortcut }
}

function fitsSocketPath(path: string): boolean {
  return Buffer.byteLength(path) + CLAIM.length <= MAX_SOCKET_PATH
}

function tooLong(path: string, more: string): StateError {
  return new StateError(`${path} is too long a path for the lock of a state file, and ${more}; use a shorter one`)
}

/**
 * One start at a time, the one with the claim, may check whether the holder is dead and replace its socket. It listens
 * before it is renamed to the path, so that a socket there is always listened on. Undefined when another process has
 * the lock or the claim.
 */
async function takeClaimed({ path, address }: LockPath, since: string): Promise<Server | undefined> {
  const claim = `${path}${CLAIM}`
  const mark = new RandomIds().id('lock')
  try {
    await writeFile(claim, mark, { flag: 'wx' })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    await waitForClaim(claim)
    return undefined
  }
  const name = `.${mark.slice(1 - CLAIM.length)}`
  let server: Server | undefined
  try {
    if ((await askHolder(address)) !== undefined) return undefined
    server = await listenAt(`${address}${name}`, since)
    // A process that was stopped here for long has lost its claim to another one.
    if (server && readFileSync(claim, 'utf8') === mark) {
      renameSync(`${path}${name}`, path)
      return server
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  } finally {
    await rm(claim, { force: true })
  }
  if (server) await closePipe(server)
  return undefined
}

/** The name goes first: while the socket is listened on, no other process takes the path. */
async function release(server: Server, path: string): Promise<void> {
  await rm(path, { force: true })
  await closePipe(server)
}

/** The system removes a pipe with its holder. */
async function lockPipe(pipe: string, file: string, since: string): Promise<StateLock> {
  const server = await listenAt(pipe, since)
  if (server) return { release: () => closePipe(server) }
  throw heldBy(file, (await askHolder(pipe)) ?? '')
}

/** Undefined when the address is taken. */
function listenAt(address: string, since: string): Promise<Server | undefined> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.end(`${process.pid} ${since}`)
    })
    server.unref()
    server.once('error', (error) => (hasCode(error, 'EADDRINUSE') ? done(undefined) : fail(error)))
    server.listen(address, () => done(server))
  })
}

function closePipe(server: Server): Promise<void> {
  return new Promise((done) => server.close(() => done()))
}

/** Empty when it says nothing; undefined when no process listens. A holder that may not be asked, or is busy, counts. */
function askHolder(address: string): Promise<string | undefined> {
  return new Promise((done) => {
    let [response, isHeld] = ['', true]
    const socket = connect(address)
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy())
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => (response += part))
    socket.on('error', (error) => (isHeld = !hasCode(error, 'ENOENT', 'ECONNREFUSED')))
    socket.on('close', () => done(isHeld ? response : undefined))
  })
}

/** Waits for the process that takes the lock; a claim of a process that died is removed once it is old by the disk's clock. */
async function waitForClaim(claim: string): Promise<void> {
  await pause(25)
  const [claimTime, diskNow] = [await changedAt(claim), await diskTime(`${claim}.now`)]
  if (claimTime !== undefined && diskNow !== undefined && diskNow - claimTime > CLAIM_EXPIRES_AFTER_MS)
    await rm(claim, { force: true })
}

async function diskTime(path: string): Promise<number | undefined> {
  await writeFile(path, '')
  const at = await changedAt(path)
  await rm(path, { force: true })
  return at
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs
  } catch {
    return undefined
  }
}
