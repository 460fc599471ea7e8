import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { writePackage } from '../app/cli/toolmock-process.ts'

/** The tested shells, each with the arguments that make it read its input as pasted lines. */
const SHELLS = {
  bash: ['--norc', '-eu', '-s'],
  // Interactive, because only then a line that starts with # is a command, as for pasted lines.
  zsh: ['-f', '-i', '-eu', '-o', 'no_prompt_cr', '-o', 'no_prompt_sp', '-s'],
} as const
type Shell = keyof typeof SHELLS

/** The address and the credentials of the mock. */
export interface Connection {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
}

/** A folder for PATH whose `npx toolmock` runs the bundled command line. It is removed with the other files of the run. */
const bin = mkdtempSync(join(inject('testBuild'), 'bin-'))
await writePackage(bin)
writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${bin}/package/dist/cli.js' "$@"\n`)
chmodSync(join(bin, 'npx'), 0o755)

interface Paste {
  readonly shell?: Shell
  readonly cwd?: string | undefined
}

/** Runs a script like pasted lines, except that it ends at the first failing command; returns its output lines. */
export async function pasted(script: string, mock: Connection, { shell = 'bash', cwd }: Paste = {}): Promise<string[]> {
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    PS1: '',
    PS2: '',
    NO_COLOR: '1',
    TOOLMOCK_URL: mock.url,
    TOOLMOCK_CLIENT_ID: mock.clientId,
    TOOLMOCK_CLIENT_SECRET: mock.clientSecret,
  }
  const child: ChildProcess = spawn(shell, SHELLS[shell], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin!.end(script)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'close') as Promise<[number]>,
  ])
  if (stderr !== '' || code !== 0) throw new Error(`${shell} ended with ${code}; stderr: ${stderr}; stdout: ${stdout}`)
  return stdout.split('\n').filter((line) => line !== '')
}

/** Parses an answer and the status that is printed after it. */
export function answered(line = ''): [status: number, body: unknown] {
  const at = line.lastIndexOf(' ')
  return [Number(line.slice(at + 1)), JSON.parse(line.slice(0, at))]
}
