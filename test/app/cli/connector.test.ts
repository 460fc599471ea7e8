import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()
const LIBRARY = new URL('../../fixtures/openapi/library.yaml', import.meta.url)

function library(): string {
  cpSync(LIBRARY, toolmock.path('library.yaml'))
  return toolmock.path('library.yaml')
}

it('writes a valid connector to stdout, and the parts of the document that it leaves out to stderr', async () => {
  const { code, stdout, stderr } = await toolmock.run(['connector', 'from-openapi', library()])
  expect(code).toBe(0)
  expect(stderr).toMatch(/^library: 11 tools, 2 collections \(books, loans\), OAUTH\n3 notes on what .*\n- simplified/)
  writeFileSync(toolmock.path('written.yaml'), stdout)
  expect(await toolmock.run(['validate', toolmock.path('written.yaml')])).toMatchObject({ code: 0, stderr: '' })
  expect(stderr).toMatch(/\nNext:\n {2}write it to a file by --out FILE, with a seed that has an account\n/)
})

it('writes what validate also reads from a pipe, which can be read once', async () => {
  const { stdout } = await toolmock.run(['connector', 'from-openapi', library()])
  const pipe = toolmock.path('pipe.yaml')
  execFileSync('mkfifo', [pipe])
  const [{ code, stderr }] = await Promise.all([toolmock.run(['validate', pipe]), writeFile(pipe, stdout)])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

it.each([
  ['seeds/connectors/library.yaml', 'seeds/library.yaml', ['seeds/library.yaml']],
  ['plain/library.yaml', 'plain/library.seed.yaml', ['plain/library.yaml', 'plain/library.seed.yaml']],
])('writes a seed with an account beside %s, and says the next steps', async (target, seed, served) => {
  const args = ['connector', 'from-openapi', library(), '--out', toolmock.path(target)]
  const { stderr } = await toolmock.run(args)
  const files = served.map((file) => toolmock.path(file))
  expect(stderr.slice(stderr.indexOf('Next:')).split('\n')).toEqual([
    'Next:',
    `  ${toolmock.path(seed)} is a seed with an account`,
    `  npx toolmock validate ${files.join(' ')}`,
    `  npx toolmock start ${files.map((file) => `--seed ${file}`).join(' ')}`,
    '  POST /api/v1/execute_tool {"connector":"library","identifier":"ada@example.com","tool_name":"library_list_books","tool_input":{}}',
    '',
  ])
  expect(await toolmock.run(['validate', ...files])).toMatchObject({ code: 0, stderr: '' })
  expect(readFileSync(toolmock.path(seed), 'utf8')).toContain('identifier: ada@example.com')
})

it('gives the connector and its tools the name of --name', async () => {
  const { stdout, stderr } = await toolmock.run(['connector', 'from-openapi', library(), '--name', 'Api: Books'])
  expect(stderr).toMatch(/^Api: Books: 11 tools/)
  expect(stdout).toMatch(/^connector: "?Api: Books"?$[^]*- name: api_books_list_books$/m)
})

it('leaves a seed that is there as it is', async () => {
  const seed = toolmock.path('kept/library.seed.yaml')
  mkdirSync(toolmock.path('kept'))
  writeFileSync(seed, 'accounts: []\n')
  const { stderr } = await toolmock.run([
    'connector',
    'from-openapi',
    library(),
    '--out',
    toolmock.path('kept/library.yaml'),
  ])
  expect(stderr).toContain(`${seed} is there already and stays as it is`)
  expect(readFileSync(seed, 'utf8')).toBe('accounts: []\n')
})

it('writes the file of --out, and never replaces an existing one', async () => {
  const target = toolmock.path('out/crm.yaml')
  const args = ['connector', 'from-openapi', library(), '--only', 'books', '--out', target]
  expect(await toolmock.run(args)).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining(`wrote ${target}: library: 6 tools`),
  })
  const before = readFileSync(target, 'utf8')
  expect(await toolmock.run(args)).toMatchObject({
    code: 2,
    stderr: `toolmock: ${target} is there already and stays as it is; name another file by --out\n`,
  })
  expect(readFileSync(target, 'utf8')).toBe(before)
})

it.each([
  [['from-openapi', 'none.yaml'], 'toolmock: none.yaml: there is no such file or folder'],
  [['from-openapi'], 'toolmock: connector from-openapi takes one FILE.'],
  [['from-postman', 'x'], 'toolmock: connector from-postman is not known. The action is from-openapi'],
  [[], 'toolmock: connector needs an action.'],
  [['from-openapi', 'x', '--name', 'a/b'], 'toolmock: --name is 1 to 100 letters, digits, spaces, hyphens'],
  [['from-openapi', 'latin1.yaml'], 'toolmock: latin1.yaml: it is not UTF-8 text'],
])('%j ends with 2 and reports the reason', async (args, message) => {
  writeFileSync(toolmock.path('latin1.yaml'), Buffer.from('info: { title: Bücher }', 'latin1'))
  const { code, stderr } = await toolmock.run(['connector', ...args])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
})
