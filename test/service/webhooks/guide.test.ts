import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { parseScenario } from '../../../src/files/scenario-files.ts'
import { DOCUMENT_CHECKS } from '../../../src/app/document-checks.ts'
import { codeBlocks } from '../../recipes/markdown.ts'
import { withControl } from '../../servers/control/control-mock.ts'
import { withDirectory } from '../../support/registry.ts'
import { SECRET } from './receiver.ts'

/** Runs the receiver of the guide, as it is there. */
async function withGuide(work: (url: string, next: () => Promise<string>) => Promise<void>): Promise<void> {
  const [program = ''] = codeBlocks('docs/webhooks.md', 'Step by step', 'js')
  expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(31)
  await withDirectory(async (directory) => {
    await writeFile(join(directory, 'receiver.mjs'), program)
    const env = { ...process.env, PORT: '0', WEBHOOK_SECRET: SECRET }
    const child = spawn(process.execPath, ['receiver.mjs'], {
      cwd: directory,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async (): Promise<string> => String((await lines.next()).value)
    try {
      const port = /^listening on port (\d+)$/.exec(await next())?.[1]
      await work(`http://127.0.0.1:${String(port)}/`, next)
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  })
}

it('accepts what is genuine, once, and refuses what is not', async () => {
  await withGuide(async (url, next) => {
    await withControl({}, async ({ call, token, api }) => {
      await call('put', '/webhooks/app', { url, secret: SECRET })
      const [yaml = ''] = codeBlocks('docs/webhooks.md', 'Failing on purpose', 'yaml')
      await parseScenario({ file: 'guide', text: yaml }, DOCUMENT_CHECKS, new Map())
      const rules = [
        { name: 'forged', at: 'webhook', when: { nth: 1 }, do: [{ bad_signature: {} }] },
        { name: 'stale', at: 'webhook', when: { nth: 2 }, do: [{ stale_timestamp: {} }] },
        { name: 'twice', at: 'webhook', when: { nth: 3 }, do: [{ duplicate: {} }] },
      ]
      await call('put', '/scenarios/events', { name: 'events', rules })
      await call('post', '/scenarios/events/start')
      const bearer = await token('test_client', 'test_secret')
      await api(bearer, 'post', '/connected_accounts', { connector: 'mail', identifier: 'åda@example.com' })
      for (const [times, advance] of [
        [1, '5s'],
        [2, '30s'],
      ] as const) {
        await call('post', '/requests/wait', { match: { kind: 'webhook' }, times })
        await call('put', '/clock', { advance })
      }
      await call('post', '/requests/wait', { match: { kind: 'webhook' }, times: 4 })
      const { requests } = (await call('get', '/requests?kind=webhook')).body as { requests: { status: number }[] }
      expect(requests.map(({ status }) => status)).toEqual([401, 401, 204, 204])
      expect(await next()).toBe('connected_account.created åda@example.com PENDING_AUTH')
      await call('post', '/webhook-events', { type: 'connected_account.deleted' })
      expect(await next()).toBe('connected_account.deleted åda@example.com PENDING_AUTH')
      expect((await call('get', '/contract')).body).toMatchObject({ total: { findings: [] } })
    })
  })
})
