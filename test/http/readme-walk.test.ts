import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createToolmock } from '../../src/index.ts'
import { codeBlocks } from '../recipes/markdown.ts'

const run = promisify(execFile)
const absent = ['bash', 'curl', 'sed'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined)
const title = absent.length === 0 ? 'works when it is pasted' : `is not tried here: ${absent.join(' and ')} missing`

/** The one block of shell in the README's walk. */
function walk(): string {
  const [only, ...others] = codeBlocks('README.md', 'A walk through the whole flow')
  if (only === undefined || others.length > 0)
    throw new Error('the walk of README.md has not exactly one block of shell')
  return only
}

describe('the walk of README.md', () => {
  it.skipIf(absent.length > 0)(title, async () => {
    await using mock = await createToolmock()
    const connection = {
      TOOLMOCK_URL: mock.url,
      TOOLMOCK_CLIENT_ID: mock.clientId,
      TOOLMOCK_CLIENT_SECRET: mock.clientSecret,
    }
    const { stdout, stderr } = await run('bash', ['--norc', '-eu', '-c', walk()], {
      env: { ...process.env, ...connection },
    })
    const answers = stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')

    expect(stderr).toBe('')
    expect(answers[0]).toMatch(/^http:\/\/localhost:3000\/verify\?.*auth_request_id=[\w-]+/)
    expect(answers[0]).toContain('state=my-state')
    expect(JSON.parse(answers[1] ?? '')).toEqual({ post_user_verify_redirect_url: `${mock.url}/connect/success` })
    expect(JSON.parse(answers.at(-1) ?? '')).toEqual({
      data: { message_id: expect.stringMatching(/^msg_/), thread_id: expect.stringMatching(/^thr_/) },
      execution_id: expect.stringMatching(/^exec_/),
    })
  })
})
