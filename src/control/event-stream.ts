import type { JournalEvent } from '../request-journal/journal.ts'
import type { ControlCall, ControlReply } from './context.ts'

/** Keeps proxies and clients from taking silence for the end. */
const HEARTBEAT_MS = 15_000

/** Of events that a slow reader has not taken yet, in bytes: whoever falls behind further is let go, and asks again. */
const MOST_UNREAD = 4 * 1024 * 1024

/** Server-sent events: every journal entry and every state change of the environment, as they happen. */
export function streamEvents({ context, environment, response }: ControlCall): ControlReply {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' })
  response.write(': toolmock events\n\n')
  const stop = context.journals.of(environment).subscribe((event) => {
    response.write(textOf(event))
    if (response.writableLength > MOST_UNREAD) response.destroy()
  })
  const heartbeat = setInterval(() => response.write(': still there\n\n'), HEARTBEAT_MS)
  heartbeat.unref()
  const end = (): void => void response.end()
  context.closing.addEventListener('abort', end)
  response.on('close', () => {
    stop()
    clearInterval(heartbeat)
    context.closing.removeEventListener('abort', end)
  })
  if (context.closing.aborted) end()
  return undefined
}

/** JSON has no line breaks outside of strings, and those inside are escaped. */
function textOf(event: JournalEvent): string {
  if (event.event === 'entry') return `event: entry\nid: ${event.entry.id}\ndata: ${JSON.stringify(event.entry)}\n\n`
  const { environment, entry, transition } = event
  return `event: transition\ndata: ${JSON.stringify({ environment, entry, transition })}\n\n`
}
