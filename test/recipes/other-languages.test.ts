import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../.build/project.ts'
import { describeWith, type Need } from '../support/machine.ts'
import { createApp } from '../../src/app/app.ts'

const GUIDE = readFileSync(`${ROOT}docs/other-languages.md`, 'utf8')

/** The example of a language, run as a program against a mock; its output. */
async function run(language: string, file: string, command: readonly [string, ...string[]]): Promise<string> {
  const [, text] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(GUIDE) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-language-'))
  writeFileSync(join(folder, file), text ?? '')
  const app = await createApp({})
  try {
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    const [program, ...args] = command
    const env = { ...process.env, TOOLMOCK_URL: url, GOCACHE: join(folder, 'cache'), GOFLAGS: '-mod=mod', HOME: folder }
    const child = spawn(program, [...args, file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (output += part))
    await new Promise((resolve) => child.once('close', resolve))
    return output
  } finally {
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const EXAMPLES: [need: Need, language: string, file: string, command: [string, ...string[]]][] = [
  ['go', 'go', 'main.go', ['go', 'run']],
  ['java', 'java', 'Example.java', ['java']],
  ['ruby', 'ruby', 'example.rb', ['ruby']],
]

for (const [need, language, file, command] of EXAMPLES) {
  describeWith(need, `the example for ${language}`, () => {
    it('makes an environment and moves its clock', { timeout: 120_000 }, async () => {
      expect(await run(language, file, command)).toMatch(/^client_\w+ 200\n$/)
    })
  })
}

it('every language of the page has an example', () => {
  const headings = [...GUIDE.matchAll(/^## (.+)\n\n```(\w+)/gm)].map(([, name]) => name)
  expect(headings).toEqual(['Go', 'Java', 'Ruby', '.NET'])
})
