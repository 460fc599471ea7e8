import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { connect, createToolmock } from '../../../src/index.ts'
import { rejection } from './with-mock.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

interface Run {
  readonly code: unknown
  readonly output: string
}

/** Runs the tests of `sample/` with a vitest of their own. */
async function runSample(variables: Record<string, string>): Promise<Run> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/app/library/sample/vitest.config.ts']
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))
  const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', ...variables }
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, output: stripVTControlCharacters(`${out}\n${err}`) }
}

it('gives each test an environment of its own, and explains refused requests of failed tests only', async () => {
  await using server = await createToolmock()
  const { code, output } = await runSample({ SAMPLE_URL: server.url })
  expect(output).toMatch(/Tests +3 failed \| 8 passed/)
  expect(code).toBe(1)
  expect(output).toContain('the status of the tool call')
  expect(output).toMatch(/stderr \| fixture\.sample\.ts > fails, and is explained/)
  expect(output).toMatch(/POST \/api\/v1\/execute_tool \(execute_tool\) by client \S+ was answered with 404 \w+\./)
  expect(output.match(/why requests were answered with 400 and above/g)).toHaveLength(1)
  expect(output).toContain('ToolmockError: the contract was not kept in environment')
  expect(output.match(/page_size must be an integer/g)).toHaveLength(1)
  const nowhere = await rejection(connect(server.url, { environment: 'nowhere' }))
  expect(nowhere).toMatchObject({ message: expect.stringMatching(/there is only default$/) })
}, 60_000)
