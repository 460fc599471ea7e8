import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Shapes are judged by Prism, which the bundle brings along: a part of it that is missing would be found here. */
function conform(command: string, url: string): void {
  const client = ['--client-id', 'test_client', '--client-secret', 'test_secret']
  const only = ['--only', 'connections/listed', '--only', 'shape/list_connections', '--format', 'json']
  const report = execFileSync(command, ['conform', '--base-url', url, ...client, ...only], { encoding: 'utf8' })
  const { summary } = JSON.parse(report) as { summary: { total: number; held: number } }
  if (summary.held !== summary.total) throw new Error(`toolmock conform finds ${JSON.stringify(summary)}`)
}

/** Starts the installed command on a free port, asks whether it is up and is what it mocks, and stops it as a container engine would. */
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
    conform(command, url)
  } finally {
    server.kill('SIGTERM')
  }
  const [code] = (await exit) as [number | null]
  if (code !== 0) throw new Error(`toolmock start exits with ${code ?? 'a signal'} after SIGTERM`)
}
