import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()

/** Calls /api/v1/notes with a token. */
const USE = `
const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret } = process.env
const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
fetch(url + '/oauth/token', { method: 'POST', body })
  .then((answer) => answer.json())
  .then(({ access_token }) => fetch(url + '/api/v1/notes', { headers: { authorization: 'Bearer ' + access_token } }))
  .then(({ status }) => console.log('status', status))
`

const toolWith = (type: string): string => `connector: mine
authorization_type: NO_AUTH
tools:
  - name: mine_read
    input_schema: { type: ${type} }
    call: { method: GET, path: / }
`

const NOTES = 'extension: notes\nresponders: [{ name: a, on: { path: /api/v1/notes }, respond: {} }]\n'

it("a user's extension file is served by flag, by variable and by the configuration file, and validated", async () => {
  mkdirSync(toolmock.path('project/.git'), { recursive: true })
  const [file, config] = [toolmock.path('project/notes.yaml'), toolmock.path('project/toolmock.config.yaml')]
  writeFileSync(file, NOTES)
  const cwd = toolmock.path('project')
  const command = ['run', '--allow-no-requests', '--', 'node', '-e', USE]
  const run = async (args: readonly string[], variables = {}) => {
    const { code, stdout } = await toolmock.begin(args, { cwd, variables }).end
    return [code, stdout.toString().split('\n')[0]]
  }
  expect(await run(command)).toEqual([expect.any(Number), 'status 404'])
  expect(await run(command, { TOOLMOCK_EXTENSION: './notes.yaml' })).toEqual([0, 'status 200'])
  expect(await run(['run', '--extension', './notes.yaml', ...command.slice(1)])).toEqual([0, 'status 200'])
  writeFileSync(config, 'extension: [organizations, ./notes.yaml]\n')
  expect(await run(command)).toEqual([0, 'status 200'])
  expect(await run(['validate', 'notes.yaml'])).toEqual([0, 'notes.yaml: a valid extension file'])
})

it("a user's extension file gives scenarios a name of an operation, where validate gets it", async () => {
  const [file, scenario] = [toolmock.path('notes.yaml'), toolmock.path('slow.yaml')]
  writeFileSync(file, NOTES)
  const rules = (operation: string): string =>
    `name: slow\nrules: [{ name: a, at: service, on: { operation: ${operation} }, do: [{ respond: { status: 503 } }] }]\n`
  writeFileSync(scenario, rules('notes'))
  expect(await toolmock.run(['validate', scenario])).toMatchObject({ code: 1 })
  expect(await toolmock.run(['validate', file, scenario])).toMatchObject({ code: 0 })
  writeFileSync(scenario, rules('organizations'))
  expect(await toolmock.run(['validate', scenario])).toMatchObject({ code: 1 })
  expect(await toolmock.run(['validate', '--extension', 'organizations', scenario])).toMatchObject({ code: 0 })
})

it("a user's connector file, read by the bundle has the input schemas of its tools judged by validate", async () => {
  const file = toolmock.path('mine.yaml')
  writeFileSync(file, toolWith('object'))
  expect(await toolmock.run(['validate', file])).toEqual({
    code: 0,
    stdout: `${file}: a valid connector file\n`,
    stderr: '',
  })
  writeFileSync(file, toolWith('array'))
  const { code, stdout } = await toolmock.run(['validate', file])
  expect(code).toBe(1)
  expect(stdout).toContain(`${file}:5:27: \`tools[0].input_schema.type\` is `)
})
