import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Of util-linux; Linux only. */
const PINNER = 'taskset'

/** The servers share core 0 and the load comes from core 1, where the system can do that; elsewhere it decides itself. */
const able = availableParallelism() > 1 && spawnSync(PINNER, ['--version']).status === 0

export const pinned = {
  able,
  /** A command line that runs on the servers' core. */
  server: (command: string, args: readonly string[]): [string, string[]] =>
    able ? [PINNER, ['--cpu-list', '0', command, ...args]] : [command, [...args]],
  /** Moves a process and its threads to the other core. */
  generator: (pid: number): void => {
    if (able) spawnSync(PINNER, ['--all-tasks', '--cpu-list', '--pid', '1', String(pid)])
  },
}
