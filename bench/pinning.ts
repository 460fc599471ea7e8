import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** A program of util-linux, which exists on Linux only. */
const PINNER = 'taskset'

/** Whether the servers run on core 0 and the load generator on core 1; elsewhere the system chooses the cores. */
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
