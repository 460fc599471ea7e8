import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

/** A program, and the arguments before those of the command line. */
type Command = readonly [program: string, ...args: string[]]

/**
 * Runs the conformance suite of the installed command against its own server. The tests run the sources; this finds what the
 * bundler leaves out.
 * Meanwhile the lines of the server are read: one that waits for its reader would not answer.
 * @throws Error that names each failed check with its reason
 */
async function conform([command, ...args]: Command, url: string): Promise<void> {
  const client = ['--client-id', 'test_client', '--client-secret', 'test_secret']
  const everything = ['--consent', 'control-api', '--allow-provider-changes', '--format', 'json']
  const conforming = spawn(command, [...args, 'conform', '--base-url', url, ...client, ...everything], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { checks, summary } = JSON.parse(await text(conforming.stdout)) as Report
  if (summary.held === summary.total) return
  const failed = checks.filter(({ result }) => result !== 'held').map(({ id, reason }) => `${id}: ${reason ?? ''}`)
  throw new Error(`toolmock conform fails these checks:\n${failed.join('\n')}`)
}

interface Report {
  readonly checks: readonly { readonly id: string; readonly result: string; readonly reason?: string }[]
  readonly summary: { readonly total: number; readonly held: number }
}

/** Starts the installed command on a free port with everything that it serves, checks its health and its conformance, and stops it with SIGTERM. */
export async function serveAndStop(command: Command): Promise<void> {
  const [program, ...args] = command
  const server = spawn(program, [...args, 'start', '--in-memory', '--port', '0', '--json', '--mcp'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(server, 'exit')
  try {
    const [line] = (await once(createInterface(server.stdout), 'line')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const health = await fetch(`${url}/_mock/health`)
    if (health.status !== 200) throw new Error(`GET ${url}/_mock/health answers ${health.status}`)
    await conform(command, url)
  } finally {
    server.kill('SIGTERM')
  }
  const [code] = (await exit) as [number | null]
  if (code !== 0) throw new Error(`toolmock start exits with ${code ?? 'a signal'} after SIGTERM`)
}
