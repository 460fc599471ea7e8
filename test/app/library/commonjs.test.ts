import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ToolmockProcess } from '../cli/toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

it('a CommonJS program can require the library without a warning', async () => {
  const file = toolmock.path('program.cjs')
  mkdirSync(`${dirname(file)}/node_modules`)
  symlinkSync(toolmock.path('package'), toolmock.path('node_modules/toolmock'))
  writeFileSync(
    file,
    `const { createToolmock, ToolmockError } = require('toolmock')
     createToolmock({ clock: '2026-01-01T00:00:00Z', freeze: true }).then(async (mock) => {
       const error = await mock.accounts.expire('ca_none').catch((refused) => refused)
       console.log(await mock.clock.now(), error instanceof ToolmockError, error.code)
       await mock.close()
     })`,
  )
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file])
  expect({ stdout, stderr }).toEqual({ stdout: '2026-01-01T00:00:00.000Z true ACCOUNT_NOT_FOUND\n', stderr: '' })
})
