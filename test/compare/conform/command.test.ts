import { expect, it } from 'vitest'
import { runProgram } from '../../../src/app/cli/program.ts'
import { createApp } from '../../../src/app/app.ts'

interface Ended {
  code: number
  stdout: string
  stderr: string
  progress: readonly string[]
}

/** Runs `toolmock conform` in this process, against a mock. */
async function run(args: (url: string) => readonly string[], watched = false): Promise<Ended> {
  const app = await createApp()
  const lines = { out: [] as string[], err: [] as string[], progress: [] as string[] }
  try {
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    const code = await runProgram(['conform', ...args(url)], {
      variables: { TOOLMOCK_CLIENT_ID: app.client.id, TOOLMOCK_CLIENT_SECRET: app.client.secret },
      out: (line) => void lines.out.push(line),
      err: (line) => void lines.err.push(line),
      progress: watched ? (line) => void lines.progress.push(line) : undefined,
    })
    return { code, stdout: lines.out.join('\n'), stderr: lines.err.join('\n'), progress: lines.progress }
  } finally {
    await app.close()
  }
}

it('exits 0 when every check passes, with only JSON on stdout', async () => {
  const only = ['--only', 'token/*', '--only', 'verify/twice']
  const ended = await run((url) => ['--base-url', url, '--format', 'json', '--consent', 'control-api', ...only])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const { checks, summary } = JSON.parse(ended.stdout)
  expect(summary).toEqual({ total: checks.length, held: checks.length, broken: 0, skipped: 0 })
  expect(Object.keys(checks[0])).toEqual(['id', 'title', 'basis', 'result', 'reason'])
})

it('exits 1 when a check is broken', async () => {
  const ended = await run((url) => ['--base-url', url, '--connector', 'nobody_has_this', '--only', 'create/created'])
  expect(ended.code).toBe(1)
  expect(ended.stdout).toContain('1 checks: 0 held, 1 broken, 0 skipped')
})

it.each([
  ['no base URL', () => [], /needs --base-url/],
  ['a server that is not there', () => ['--base-url', 'http://127.0.0.1:9'], /cannot be checked/],
  ['wrong credentials', (url: string) => ['--base-url', url, '--client-secret', 'wrong'], /cannot be checked/],
  ['a pattern that no check fits', (url: string) => ['--base-url', url, '--only', 'x/*'], /no check is called/],
  ['an operand', (url: string) => ['--base-url', url, 'verify'], /takes no verify/],
])('exits 2 with %s, and reports the reason once', async (_what, args, message) => {
  const ended = await run(args)
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr).toMatch(message)
  expect(ended.stderr.split('\n')).toHaveLength(1)
})

it('shows its progress on a terminal', async () => {
  const ended = await run((url) => ['--base-url', url, '--only', 'token/t*'], true)
  expect(ended.progress[0]).toMatch(/^0\/\d+ token\/type$/)
  expect(ended.progress.at(-1)).toBe('')
})
