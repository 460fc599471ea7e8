import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { checkState } from '../../src/state/state-report.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { describeUnless } from '../support/machine.ts'
import { type Caller, signIn } from './client.ts'
import { expectThere, type Known, untilAnotherMoment, write } from './writers.ts'

/** `npm run test:long` sets the number; without it the test is skipped, as in `npm run test:rest`. */
const ROUNDS = Number(process.env['POWER_LOSS_ROUNDS'] ?? 0)
const WRITERS = 8

const toolmock = ToolmockProcess.forThisFile()
const image = toolmock.path('disk.img')
const disk = toolmock.path('disk')

/** Drops everything that the file system has not yet written to its device (EXT4_IOC_SHUTDOWN without a flush of its log). */
const SHUT_DOWN = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))
`

/** Undefined for a command that succeeded; else its error output. */
function run(command: string, ...given: string[]): string | undefined {
  const { error, status, stderr } = spawnSync(command, given, { encoding: 'utf8' })
  if (error) return `${command} is not installed`
  return status === 0 ? undefined : `${command}: ${stderr.trim().slice(0, 200)}`
}

const mount = (): string | undefined => run('mount', '-o', 'loop', image, disk)
const shutDown = (): string | undefined => run('python3', '-c', SHUT_DOWN, disk)
const unmount = (): string | undefined => run('umount', disk)

/** A caller that stops at the first 503, because a disk without power refuses every write from then on. */
function untilRefused(caller: Caller): Caller {
  return {
    send: async (method, path, body) => {
      const answer = await caller.send(method, path, body)
      if (answer.status === 503) throw new TypeError('the disk refuses')
      return answer
    },
  }
}

/** Undefined where a file system can be shut down; else the reason why not. */
function reasonToSkip(): string | undefined {
  if (ROUNDS === 0) return 'npm run test:long runs it'
  if (process.platform !== 'linux') return 'it needs Linux'
  mkdirSync(disk, { recursive: true })
  const prepared = run('truncate', '-s', '128M', image) ?? run('mkfs.ext4', '-q', '-F', image) ?? mount()
  if (prepared !== undefined) return prepared
  return shutDown() ?? unmount()
}

const REASON = reasonToSkip()
afterAll(() => {
  unmount()
})

describeUnless(REASON, 'power loss', () => {
  it(
    `loses no answered write, ${ROUNDS} times, and leaves a valid file`,
    { timeout: 60_000 + ROUNDS * 30_000 },
    async () => {
      const file = `${disk}/state.json`
      let earlier: Known[] = []
      let written = 0
      for (let round = 0; round <= ROUNDS; round++) {
        expect(mount()).toBeUndefined()
        if (round > 0) expect(await checkState(file)).toMatchObject({ kind: 'valid' })
        const server = await toolmock.start(['--state', file])
        const caller = await signIn(server.url)
        for (const account of earlier) await expectThere(caller, account)
        const known: Known[] = []
        if (round < ROUNDS) {
          const writers = Array.from({ length: WRITERS }, (_, writer) =>
            write(untilRefused(caller), `r${round}-w${writer}`, known),
          )
          await untilAnotherMoment(server, round, { writers, known })
          expect(shutDown()).toBeUndefined()
          await server.stop('SIGKILL')
          await Promise.all(writers)
        } else await server.stop()
        expect(unmount()).toBeUndefined()
        written += known.length
        earlier = [...known, ...earlier.filter((_, at) => at % 7 === 0).slice(0, 100)]
      }
      expect(written).toBeGreaterThan(ROUNDS)
      console.log(`power loss: ${ROUNDS} rounds, ${written} accounts were answered for, none is missing`)
    },
  )
})
