import { systemTime } from '../../state/model/time-and-ids.ts'
import type { CommandContext } from './command.ts'

export type ReportProgress = (detail: string) => void

/** How often it is said: on a terminal the line overwrites itself. */
const ON_TERMINAL_MS = 200
const ELSEWHERE_MS = 5000

/** Says how long work takes: on a terminal in one line, which goes when the work is done, else by a line every five seconds. */
export async function withProgress<Result>(
  { progress, err }: Pick<CommandContext, 'progress' | 'err'>,
  what: string,
  work: (report: ReportProgress) => Promise<Result>,
): Promise<Result> {
  const start = systemTime()
  let said = start
  let detail = ''
  const say = (): void => {
    const now = systemTime()
    if (now - said < (progress ? ON_TERMINAL_MS : ELSEWHERE_MS)) return
    said = now
    const line = `${what}${detail === '' ? '' : `: ${detail}`} … ${Math.round((now - start) / 1000)} s`
    if (progress) progress(line)
    else err(line)
  }
  const timer = setInterval(say, ON_TERMINAL_MS)
  try {
    // Work that gives no turn to the timer says by itself what it is at.
    return await work((next) => {
      detail = next
      say()
    })
  } finally {
    clearInterval(timer)
    if (said !== start) progress?.('')
  }
}
