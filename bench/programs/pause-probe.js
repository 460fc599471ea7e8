import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Loaded into a measured server with `--import`. At SIGUSR2 it writes the longest pauses of the event loop since the last signal
// into the file PAUSE_PROBE_FILE: `pause` in real time, and `busy` in CPU time of this process, which leaves out the time that
// other processes of a busy machine took.
const RESOLUTION = 1
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION })
histogram.enable()

let busy = 0
let at = performance.now()
let cpu = process.cpuUsage()
setInterval(() => {
  const now = performance.now()
  const used = process.cpuUsage(cpu)
  busy = Math.max(busy, Math.min(now - at, (used.user + used.system) / 1000) - RESOLUTION)
  at = now
  cpu = process.cpuUsage()
}, RESOLUTION).unref()

process.on('SIGUSR2', () => {
  const pause = Math.max(0, histogram.max / 1e6 - RESOLUTION)
  writeFileSync(process.env.PAUSE_PROBE_FILE, JSON.stringify({ pause, busy }))
  histogram.reset()
  busy = 0
})
