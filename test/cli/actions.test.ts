import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { type App, createApp } from '../../src/app/app.ts'
import { program } from '../../src/cli/program.ts'
import type { Terminal } from '../../src/terminal.ts'

interface Commands {
  readonly app: App
  /** Calls the control API. */
  readonly control: (method: string, path: string, body?: object) => Promise<unknown>
  /** What a command prints, which has to succeed. */
  readonly run: (line: readonly string[], terminal?: Terminal) => Promise<string>
}

/** Commands in this process against a server in this process. */
async function withCommands(use: (commands: Commands) => Promise<void>): Promise<void> {
  const app = await createApp()
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  const run: Commands['run'] = async (line, terminal) => {
    const printed: string[] = []
    const print = (text: string): void => void printed.push(text)
    const code = await program(line, { variables: { TOOLMOCK_URL: url }, out: print, err: print, terminal })
    expect({ code, printed }).toMatchObject({ code: 0 })
    return printed.join('\n')
  }
  const control: Commands['control'] = async (method, path, body) => {
    const headers = { 'Content-Type': 'application/json' }
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
    return (await fetch(`${url}/_mock${path}`, { method, ...sent })).json()
  }
  try {
    await use({ app, control, run })
  } finally {
    await app.close()
  }
}

it('report says how often each rule fired, and wraps and has colours only on a terminal', () =>
  withCommands(async ({ control, run }) => {
    await control('POST', '/scenarios/rate-limited/start')
    const text = await run(['report'])
    expect(text).toContain('\n  violation  rule ')
    expect(text).toMatch(/\nrule "[^"]+" of scenario rate-limited fired 0 times: no request matched it\n/)
    const columns = 57
    const shown = await run(['report'], { columns, isColoured: true })
    expect(shown).toContain('\n  \u001b[31mviolation\u001b[39m  rule ')
    const plain = stripVTControlCharacters(shown)
    expect(plain).toBe(await run(['report'], { columns, isColoured: false }))
    expect(plain.split('\n').filter((each) => each.length > columns)).toEqual([])
    expect(plain.replaceAll(/\n {2,13}(?=\S)(?!violation)/g, ' ')).toBe(text)
  }))
