import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU seconds that a process has used so far, all threads, from the scheduler's own count in nanoseconds: `utime` and `stime`
 * of `/proc/PID/stat` come in hundredths of a second. Threads that have ended are not in it; those of Node live on.
 */
export function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)),
  )
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9
}

/** Resident memory of a process. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error(`the system does not tell the memory of process ${pid}`)
  return (Number(kilobytes) * 1024) / 1e6
}
