import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Starts the installed command on a free port, asks whether it is up, and stops it as a container engine would. */
export async function serveAndStop(command: string): Promise<void> {
  const server = spawn(command, ['start', '--in-memory', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(server, 'exit')
  try {
    const [line] = (await once(createInterface(server.stdout), 'line')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const health = await fetch(`${url}/_mock/health`)
    if (health.status !== 200) throw new Error(`GET ${url}/_mock/health answers ${health.status}`)
  } finally {
    server.kill('SIGTERM')
  }
  const [code] = (await exit) as [number | null]
  if (code !== 0) throw new Error(`toolmock start exits with ${code ?? 'a signal'} after SIGTERM`)
}
