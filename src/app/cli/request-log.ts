import { InstantCache } from '../../model/domain/instant.ts'
import { plural } from '../../model/domain/text.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import type { CommandContext } from './command.ts'
import { lineFacts, requestJson, requestLine } from './request-line.ts'

interface RequestLogOptions {
  readonly json: boolean
  readonly withControl: boolean
}

/** Bytes that a reader may be behind. Beyond that requests are left out and counted, because the server waits for no reader. */
const MAX_UNREAD = 1024 * 1024

/** A person sees no such delay, and a busy server writes many lines at once. */
const DELAY_MS = 10

/** Writes a line for each request, shortly after its answer: no answer waits for its line. */
export class RequestLog {
  readonly observe: (entry: StoredEntry) => void
  /** Takes the calls of the control API; undefined where they are not wanted. */
  readonly observeControl: ((entry: StoredEntry) => void) | undefined
  readonly #context: CommandContext
  readonly #json: boolean
  readonly #instants = new InstantCache()
  #waiting: StoredEntry[] = []
  #leftOut = 0

  constructor(context: CommandContext, { json, withControl }: RequestLogOptions) {
    this.#context = context
    this.#json = json
    const flush = (): void => this.flush()
    const add = (entry: StoredEntry): void => {
      if (this.#waiting.push(entry) === 1) setTimeout(flush, DELAY_MS)
    }
    this.observe = withControl
      ? add
      : (entry) => {
          if (entry.kind === 'request' || entry.kind === 'page' || entry.kind === 'webhook') add(entry)
        }
    this.observeControl = withControl ? add : undefined
  }

  flush(): void {
    const entries = this.#waiting
    if (entries.length === 0) return
    this.#waiting = []
    const { out, backlog, terminal } = this.#context
    if ((backlog?.() ?? 0) > MAX_UNREAD) {
      this.#leftOut += entries.length
      return
    }
    const lines = entries.map((entry) => {
      const facts = lineFacts(entry, this.#instants)
      return this.#json ? requestJson(facts) : requestLine(facts, terminal)
    })
    if (this.#leftOut > 0) lines.unshift(this.#leftOutLine())
    out(lines.join('\n'))
  }

  #leftOutLine(): string {
    const message = `${plural(this.#leftOut, 'request is', 'requests are')} left out here: the output was not read in time`
    this.#leftOut = 0
    return this.#json ? JSON.stringify({ level: 'warn', message }) : message
  }
}
