import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, mkdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { describeWith } from '../../support/machine.ts'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

/** Notes each signal in a file, and ends a moment after the first one. */
const NOTES = `
  const { appendFileSync } = require('node:fs')
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP']) {
    process.on(signal, () => {
      appendFileSync(process.env.NOTES, signal + ' ')
      setTimeout(() => process.exit(42), 300)
    })
  }
  setInterval(() => undefined, 1000)
  console.log(['ready', process.stdin.isTTY, process.stdout.isTTY, process.stderr.isTTY].join(' '))`

/** Runs the command at a terminal whose first process is a shell, as usual. */
function atTerminal(name: string) {
  const [notes, temporary] = [toolmock.path(`${name}.notes`), toolmock.path(`${name}.temporary`)]
  mkdirSync(temporary)
  const command = `"${process.execPath}" "${toolmock.path('package/dist/cli.js')}" run --tls -- "${process.execPath}" -e "$WORK"`
  const child = spawn('script', ['-qec', `trap : INT QUIT; ${command}; exit $?`, '/dev/null'], {
    env: { ...process.env, SHELL: '/bin/sh', WORK: NOTES, NOTES: notes, TMPDIR: temporary },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  return {
    child,
    said: text(child.stdout),
    notes: () => readFileSync(notes, 'utf8'),
    left: () => readdirSync(temporary),
  }
}

// `script` of util-linux runs a program in a terminal.
describeWith('terminal', 'toolmock run at a terminal', () => {
  it.each([
    ['Ctrl-C', '\x03', 'SIGINT '],
    ['Ctrl-\\', '\x1c', 'SIGQUIT '],
  ])('does not pass on %s, which the terminal sends to the command itself', async (name, key, signals) => {
    const { child, said, notes, left } = atTerminal(name)
    await once(child.stdout, 'data')
    child.stdin.write(key)
    const [code] = (await once(child, 'close')) as [number]
    expect(await said).toMatch(/^ready true true true\r\n[^]*failed with exit code 42, which is passed on/)
    expect({ code, signals: notes(), left: left() }).toEqual({ code: 42, signals, left: [] })
  })

  it('does not repeat the signal of a terminal that closes, and still removes its temporary files', async () => {
    const { child, notes, left } = atTerminal('hangup')
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await expect.poll(left).toEqual([])
    expect(notes()).toBe('SIGHUP ')
  })
})
