import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { describe } from 'vitest'

const run = promisify(execFile)
const absent = ['bash', 'curl', 'sed'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined)

/** Tests of what is printed for a shell. Without one they are skipped, but on CI they fail. */
export const describeInShell = describe.skipIf(absent.length > 0 && !process.env.CI)

/** How a program finds the mock. */
export interface Connection {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
}

/** Runs a script as somebody who pastes it, except that any command that fails ends it; answers its lines. */
export async function pasted(script: string, mock: Connection, cwd?: string): Promise<string[]> {
  const env = {
    ...process.env,
    TOOLMOCK_URL: mock.url,
    TOOLMOCK_CLIENT_ID: mock.clientId,
    TOOLMOCK_CLIENT_SECRET: mock.clientSecret,
  }
  const { stdout, stderr } = await run('bash', ['--norc', '-eu', '-c', script], { env, cwd })
  if (stderr !== '') throw new Error(`the script said on stderr: ${stderr}`)
  return stdout.split('\n').filter((line) => line !== '')
}

/** An answer and the status that was printed behind it. */
export function answered(line = ''): [status: number, body: unknown] {
  const at = line.lastIndexOf(' ')
  return [Number(line.slice(at + 1)), JSON.parse(line.slice(0, at))]
}
