import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()
const LIBRARY = new URL('../fixtures/openapi/library.yaml', import.meta.url)

function library(): string {
  cpSync(LIBRARY, toolmock.path('library.yaml'))
  return toolmock.path('library.yaml')
}

describe('toolmock connector from-openapi', () => {
  it('writes a valid connector to stdout, and the parts of the document that it leaves out to stderr', async () => {
    const { code, stdout, stderr } = await toolmock.run(['connector', 'from-openapi', library()])
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^library: 11 tools, 2 collections \(books, loans\), OAUTH\n3 notes on what .*\n- simplified/,
    )
    writeFileSync(toolmock.path('written.yaml'), stdout)
    expect(await toolmock.run(['validate', toolmock.path('written.yaml')])).toMatchObject({ code: 0, stderr: '' })
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
    [['from-openapi', 'none.yaml'], 'toolmock: none.yaml cannot be read (ENOENT)'],
    [['from-openapi'], 'toolmock: connector from-openapi takes one FILE.'],
    [['from-postman', 'x'], 'toolmock: connector from-postman is not known. The action is from-openapi'],
    [[], 'toolmock: connector needs an action.'],
  ])('%j ends with 2 and reports the reason', async (args, message) => {
    const { code, stderr } = await toolmock.run(['connector', ...args])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })
})
