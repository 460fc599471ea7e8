import type { Surroundings } from './command.ts'
import { systemCode } from './failure.ts'

/** The real process. A reader that goes away (`toolmock | head -1`, a closed terminal) ends the printing, not the server. */
export function processSurroundings(): Surroundings {
  return {
    variables: process.env,
    out: lineWriter(process.stdout),
    err: lineWriter(process.stderr),
    columns: process.stderr.isTTY ? process.stderr.columns : undefined,
    progress: process.stderr.isTTY ? showProgress : undefined,
  }
}

/** Over the line that is there; cut, since one that wraps could not be rolled back. */
function showProgress(line: string): void {
  process.stderr.write(`\r\x1b[K${line.slice(0, process.stderr.columns - 1)}`)
}

function lineWriter(stream: NodeJS.WriteStream): (line: string) => void {
  let open = true
  stream.on('error', (error: unknown) => {
    if (!['EPIPE', 'EIO'].includes(systemCode(error) ?? '')) throw error
    open = false
  })
  return (line) => {
    if (open) stream.write(`${line}\n`)
  }
}
