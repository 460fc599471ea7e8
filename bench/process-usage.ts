import { readdirSync, readFileSync } from 'node:fs'

/**
 * The CPU seconds that all threads of a process have used. They come from the scheduler's count in nanoseconds, because `utime`
 * and `stime` of `/proc/PID/stat` are in hundredths of a second. Threads that have ended are not counted; Node keeps its threads.
 */
export function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)),
  )
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9
}

/** The resident memory of a process in megabytes. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no VmRSS`)
  return (Number(kilobytes) * 1024) / 1e6
}
