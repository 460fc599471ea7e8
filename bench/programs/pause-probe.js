import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Loaded into a measured server with `--import`. SIGUSR2 writes what the loop's longest pause was since the last one into the
// file that PAUSE_PROBE_FILE names: `pause` as the clock saw it, and `busy`, the part of a pause in which this process
// computed, which leaves out what a crowded machine took away.
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
