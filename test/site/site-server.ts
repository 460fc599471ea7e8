import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { ROOT } from '../../.build/project.ts'

/** Where `npm run docs` writes the site. */
export const SITE = join(ROOT, '.build/site/dist')

/** One page of each kind. */
export const PAGES = ['/', '/getting-started', '/errors', '/api/execute_tool', '/file-reference', '/troubleshooting']

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.png': 'image/png',
}

/** Serves the site on a free port. */
export async function serveSite(): Promise<{ address: string; close: () => void }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const found = [`${pathname}.html`, pathname, `${pathname}index.html`].find(
      (path) => extname(path) && existsSync(SITE + path),
    )
    response.writeHead(found ? 200 : 404, { 'Content-Type': TYPES[extname(found ?? '')] ?? 'text/html' })
    response.end(found ? readFileSync(SITE + found) : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { address: `http://127.0.0.1:${String(port)}`, close: () => server.close() }
}
