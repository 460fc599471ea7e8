import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { TimeSource } from '../model/time-and-ids.ts'
import { hasCode } from '../wal/file-system.ts'
import { StateError } from '../wal/state-errors.ts'

/** Held until it is released or the process dies, however it dies. */
export interface StateLock {
  release(): Promise<void>
}

const ANSWER_WITHIN_MS = 1_000
const CLAIM_DIES_AFTER_MS = 5_000
const ATTEMPTS = 100
/** Longer socket paths are refused by some systems. */
const LONGEST_SOCKET_PATH = 100

/**
 * Takes the exclusive lock of a state file: a socket beside it that the holder listens on. The system closes it when the
 * holder dies, so that neither a reused process id nor another container's can be mistaken for a holder; whoever finds
 * it taken asks it who it is.
 * @throws StateError naming the holder
 */
export async function lockState(file: string, time: TimeSource): Promise<StateLock> {
  const address = socketAddress(resolve(file))
  const since = new Date(time()).toISOString()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const server = await listen(address, since)
    if (server) return { release: () => close(server) }
    const holder = await askHolder(address)
    if (holder !== undefined) throw heldBy(file, holder)
    await removeStale(address)
  }
  throw new StateError(`${address}: the lock of ${file} is left over and cannot be removed; remove it by hand`)
}

/** Refuses a file that a server has open, without taking its lock. @throws StateError naming the holder */
export async function refuseIfHeld(file: string): Promise<void> {
  const holder = await askHolder(socketAddress(resolve(file)))
  if (holder !== undefined) throw heldBy(file, holder)
}

function heldBy(file: string, holder: string): StateError {
  const who = /^(?<pid>\d+) (?<since>\S+)$/.exec(holder)?.groups
  const whom = who ? `process ${who['pid']} since ${who['since']}` : 'another process'
  return new StateError(`${file} is in use by ${whom}; stop it, or use another --state file or --in-memory`)
}

function socketAddress(file: string): string {
  const digest = createHash('sha256').update(file).digest('hex').slice(0, 32)
  if (process.platform === 'win32') return `\\\\.\\pipe\\toolmock-${digest}`
  const beside = `${file}.lock`
  return Buffer.byteLength(beside) <= LONGEST_SOCKET_PATH ? beside : join(tmpdir(), `toolmock-${digest}.lock`)
}

/** Undefined when the address is taken, by the living or the dead. */
function listen(address: string, since: string): Promise<Server | undefined> {
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

function close(server: Server): Promise<void> {
  return new Promise((done) => server.close(() => done()))
}

/** What the holder says of itself, empty when it says nothing; undefined when no process listens. */
function askHolder(address: string): Promise<string | undefined> {
  return new Promise((done) => {
    let [answer, connected] = ['', false]
    const socket = connect(address, () => (connected = true))
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy())
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => (answer += part))
    socket.on('error', () => undefined)
    socket.on('close', () => done(connected ? answer : undefined))
  })
}

/**
 * Removes the socket of a dead holder. One process at a time may do so, or the second would remove the socket that the
 * first has just made for itself.
 */
async function removeStale(address: string): Promise<void> {
  const claim = `${address}.claim`
  try {
    await writeFile(claim, String(process.pid), { flag: 'wx' })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    await waitForClaim(claim)
    return
  }
  try {
    // Between being made and being listened on, a socket looks dead for an instant.
    await pause(20)
    if ((await askHolder(address)) === undefined) await rm(address, { force: true })
  } finally {
    await rm(claim, { force: true })
  }
}

/** Waits for whoever removes the stale socket; a claim whose maker died is removed once it is old by the disk's clock. */
async function waitForClaim(claim: string): Promise<void> {
  await pause(25)
  const [made, present] = [await changedAt(claim), await diskTime(`${claim}.now`)]
  if (made !== undefined && present !== undefined && present - made > CLAIM_DIES_AFTER_MS)
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
