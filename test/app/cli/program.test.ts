import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { flagTable } from '../../../.build/generate/options-tables.ts'
import { manifestOf, ROOT } from '../../../.build/project.ts'
import { COMMANDS, flagsOf } from '../../../src/app/cli/command-table.ts'
import { scriptName } from '../../../src/app/cli/own-program.ts'
import { processContext, runProgram } from '../../../src/app/cli/program.ts'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

it.each([
  ['/app/node_modules/.bin/toolmock', '/app', 'npx toolmock'],
  ['/home/ada/clone/dist/cli.js', '/home/ada/clone', 'npx toolmock'],
  ['/home/ada/clone/dist/cli.js', '/home/ada/clone/docs', 'npx toolmock'],
  ['/usr/local/bin/toolmock', '/home/ada', 'toolmock'],
  ['/app/dist/cli.js', '/data', 'toolmock'],
  ['/home/ada/clone/dist/cli.js', '/home/ada/clone-of-another', 'toolmock'],
])('scriptName: of %s started in %s is %s', (script, folder, name) => {
  expect(scriptName(script, folder)).toBe(name)
})

it.each([[[]], [['validate', 'a.yaml']]])('%j in a working directory that was removed says so', async (args) => {
  const removed = vi.spyOn(process, 'cwd').mockImplementation(() => {
    throw new Error('ENOENT: no such file or directory, uv_cwd')
  })
  const lines: string[] = []
  const code = await runProgram(args, { ...processContext(), err: (line) => lines.push(line) })
  removed.mockRestore()
  expect({ code, lines }).toEqual({
    code: 2,
    lines: ['toolmock: the working directory was removed; change to one that exists'],
  })
})

it.each([[['--version']], [['-v']], [['start', '--version']], [['-vh']], [['logs', '--version=yes']]])(
  'toolmock: %j prints the version of the package',
  async (args) => {
    expect(await toolmock.run(args)).toEqual({ code: 0, stdout: `${manifestOf(ROOT).version}\n`, stderr: '' })
  },
)

it.each([[['--help']], [['-h']], [['help']]])('toolmock: %j lists the commands', async (args) => {
  const { code, stdout, stderr } = await toolmock.run(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const command of ['start', 'validate FILE…', 'init [DIR]', 'healthcheck'])
    expect(stdout).toContain(`\n  ${command} `)
})

it.each([[['start', '--help']], [['start', '--help=true']], [['start', '--prot', '--help']], [['help', 'start']]])(
  'toolmock: %j lists the flags of start',
  async (args) => {
    const { code, stdout } = await toolmock.run(args)
    expect(code).toBe(0)
    for (const { name } of flagsOf('start')) expect(stdout).toContain(`--${name}`)
  },
)

it.each([
  [['sart'], 'toolmock: sart is not a command. Did you mean start? See npx toolmock --help.'],
  [
    ['serve-it'],
    `toolmock: serve-it is not a command. Commands are ${COMMANDS.map(({ name }) => name).join(', ')}. See npx toolmock --help.`,
  ],
  [['--prot', '1'], 'toolmock: --prot is not known. Did you mean --port? See npx toolmock start --help.'],
  [
    ['start', '--port', 'x'],
    'toolmock: --port x: expected a whole number from 0 to 65535. See npx toolmock start --help.',
  ],
  [['validate'], 'toolmock: validate needs at least one FILE or folder. See npx toolmock validate --help.'],
  [['help', 'sart'], 'toolmock: sart is not a command. Did you mean start? See npx toolmock --help.'],
])('toolmock: %j is refused with 2 and one line', async (args, line) => {
  expect(await toolmock.run(args)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` })
})

it('toolmock: names a variable that has a value it must not have', async () => {
  const { code, stderr } = await toolmock.run(['start'], { TOOLMOCK_LOG_LEVEL: 'loud' })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^toolmock: TOOLMOCK_LOG_LEVEL=loud: expected one of error, warn, info, debug\./)
})

it('toolmock validate says that the bundled seed is valid', async () => {
  expect(await toolmock.run(['validate', 'bundled'])).toEqual({
    code: 0,
    stdout: 'bundled: a valid seed file\n',
    stderr: '',
  })
})

it('toolmock validate ends with 0 when the files are valid', async () => {
  const file = toolmock.path('good.yaml')
  writeFileSync(file, 'clients:\n  - { client_id: a, client_secret: b }\n')
  expect(await toolmock.run(['validate', file])).toEqual({
    code: 0,
    stdout: `${file}: a valid seed file\n`,
    stderr: '',
  })
})

it('toolmock validate ends with 1 and prints file, line, column, what was found and what is allowed', async () => {
  const file = toolmock.path('bad.yaml')
  writeFileSync(file, 'clients:\n  - client_id: a\n    client_secret: 7\n')
  const { code, stdout, stderr } = await toolmock.run(['validate', file])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toBe(`${file}:3:20: \`clients[0].client_secret\` is a number; allowed: a text\n1 problem in 1 file\n`)
})

it('toolmock validate warns of tool names that models do not accept, and ends with 0', async () => {
  const file = toolmock.path('names.yaml')
  const tool = (name: string): string => `  - { name: ${name}, call: { method: GET, path: / } }\n`
  const [longest, longer] = ['a'.repeat(64), 'b'.repeat(65)]
  const names = ['shop.list', 'shop:list', 'Shop_list-2', longest, longer]
  writeFileSync(file, `connector: shop\nauthorization_type: NO_AUTH\ntools:\n${names.map(tool).join('')}`)
  const allowed = 'which models refuse; allowed: 1 to 64 letters, digits, underscores and hyphens'
  expect(await toolmock.run(['validate', file, file])).toEqual({
    code: 0,
    stdout:
      `warning: ${file}:4:13: \`tools[0].name\` is "shop.list", ${allowed}\n` +
      `warning: ${file}:5:13: \`tools[1].name\` is "shop:list", ${allowed}\n` +
      `warning: ${file}:8:13: \`tools[4].name\` is "${longer}", ${allowed}\n` +
      `${file}: a valid connector file\n`,
    stderr: '',
  })
})

it('toolmock validate warns of durations without a unit, with the unit that they are read in', async () => {
  const [seed, scenario] = [toolmock.path('lifetimes.yaml'), toolmock.path('slow.yaml')]
  writeFileSync(seed, 'settings: { magic_link_lifetime: 900, auth_request_lifetime: 10m }\n')
  writeFileSync(
    scenario,
    'name: slow\nrules:\n  - { name: waits, at: service, when: { until: 30 }, do: [{ latency: 200 }] }\n' +
      '  - { name: waits too, at: service, when: { until: 30s }, do: [{ latency: { min: 1s, max: 2s } }] }\n' +
      '  - { name: waits again, at: service, do: [{ latency: { ms: 5 } }, { advance_clock: { by: 60 } }] }\n',
  )
  const { code, stdout } = await toolmock.run(['validate', seed, scenario])
  expect(code).toBe(0)
  expect(stdout.split('\n').filter((line) => line.startsWith('warning: '))).toEqual([
    `warning: ${seed}:1:34: \`settings.magic_link_lifetime\` is 900 without a unit, which is read as 900 seconds; allowed: a unit, such as 900s`,
    `warning: ${scenario}:3:48: \`rules[0].when.until\` is 30 without a unit, which is read as 30 seconds; allowed: a unit, such as 30s`,
    `warning: ${scenario}:3:70: \`rules[0].do[0].latency\` is 200 without a unit, which is read as 200 milliseconds; allowed: a unit, such as 200ms`,
    `warning: ${scenario}:5:91: \`rules[2].do[1].advance_clock.by\` is 60 without a unit, which is read as 60 seconds; allowed: a unit, such as 60s`,
  ])
})

it('toolmock validate says which files of a folder it left out', async () => {
  const folder = mkdtempSync(toolmock.path('project-'))
  const seed = join(folder, 'seed.yaml')
  writeFileSync(seed, 'clients:\n  - { client_id: a, client_secret: b }\n')
  writeFileSync(join(folder, 'package.json'), '{ "name": "shop" }')
  expect(await toolmock.run(['validate', folder])).toEqual({
    code: 0,
    stdout:
      `${seed}: a valid seed file\n` +
      `1 file left out, which has no top-level key of a file of the mock: ${join(folder, 'package.json')}\n`,
    stderr: '',
  })
})

it('toolmock validate ends with 2 when a file cannot be read', async () => {
  const { code, stderr } = await toolmock.run(['validate', toolmock.path('none.yaml')])
  expect(code).toBe(2)
  expect(stderr).toMatch(/^toolmock: .*none\.yaml: /)
})

it('the table of flags is rendered as a Markdown table with the variable and the default of each', () => {
  const flags = flagsOf('start')
  const lines = flagTable(flags).split('\n')
  expect(lines).toHaveLength(flags.length + 2)
  expect(lines[2]).toMatch(/^\| `--port N` \| `TOOLMOCK_PORT` \| 8665 \| port of the server; .+ \|$/)
})
