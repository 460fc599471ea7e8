import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

const toolWith = (type: string): string => `connector: mine
authorization_type: NO_AUTH
tools:
  - name: mine_read
    input_schema: { type: ${type} }
    call: { method: GET, path: / }
`

describe("a user's connector file, read by the bundle", () => {
  it('has the input schemas of its tools judged by validate', async () => {
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
})
