import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { pinned } from './pinning.ts'
import { medianOf } from './statistics.ts'

/** The properties of the machine that figures depend on. */
export interface Machine {
  cores: number
  model: string
  memoryGigabytes: number
  node: string
  /** The load average of the last minute before the benchmark started. */
  load: number
  /** The median time of an fdatasync of 4 KB in the folder of the state files. */
  syncMilliseconds: number
}

export function machineOf(folder: string): Machine {
  const processors = cpus()
  return {
    cores: processors.length,
    model: processors[0]?.model.trim() ?? 'unknown',
    memoryGigabytes: totalmem() / 2 ** 30,
    node: process.version,
    load: loadavg()[0] ?? Number.NaN,
    syncMilliseconds: medianOf(Array.from({ length: 51 }, () => syncTime(folder))),
  }
}

export function machineLine({ cores, model, memoryGigabytes, node, load, syncMilliseconds }: Machine): string {
  const where = pinned.able ? 'servers on core 0, load from core 1' : 'servers and load share all cores'
  return [
    `${cores} cores of ${model}`,
    `${memoryGigabytes.toFixed(0)} GB`,
    `Node ${node}`,
    `load average ${load.toFixed(1)} at the start`,
    `fdatasync of 4 KB ${syncMilliseconds.toFixed(2)} ms`,
    where,
  ].join('; ')
}

function syncTime(folder: string): number {
  const path = join(folder, 'sync-probe')
  const file = openSync(path, 'w')
  writeSync(file, Buffer.alloc(4096))
  const from = performance.now()
  fdatasyncSync(file)
  const time = performance.now() - from
  closeSync(file)
  rmSync(path)
  return time
}
