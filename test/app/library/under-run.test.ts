import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../../.build/project.ts'
import { ToolmockProcess } from '../cli/toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')
const CONFIG = join(ROOT, 'test/app/library/run-sample/vitest.config.ts')
const SAMPLE = ['--', process.execPath, VITEST, 'run', '--config', CONFIG]

it('uses the server of the run: the verdict is about the requests of the tests', async () => {
  const { code, stdout, stderr } = await toolmock.run(['run', ...SAMPLE], { NO_COLOR: '1' })
  expect(stdout).toMatch(/Tests +6 passed/)
  expect(stderr).toContain('list_connected_accounts: page_size must be at most 100; found 101')
  const FILE = 'test/app/library/run-sample/accounts.sample.ts'
  const [sample, label] = [join(ROOT, FILE).replaceAll('.', String.raw`\.`), 'asks for a page that is too large']
  expect(stderr).toMatch(
    new RegExp(`in 2 tests: accounts > ${label} \\(${sample}:\\d+\\); accounts > asks for it again`),
  )
  expect(stderr).not.toContain('unfired')
  expect(code).toBe(3)
  const [, id = '', journal = ''] = /npx toolmock explain (\S+) --journal (\S+)\n$/.exec(stderr) ?? []
  const explained = await toolmock.run(['explain', id, '--journal', journal])
  expect(explained.stdout).toMatch(
    /^GET \/api\/v1\/connected_accounts\?page_size=101 .* was answered with 400 VALIDATION_FAILED/,
  )
  expect(explained.code).toBe(0)
}, 60_000)
