import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ToolmockProgram } from '../app/cli/toolmock-process.ts'
import { codeBlocks } from './markdown.ts'

const toolmock = ToolmockProgram.forThisFile()
const SECTION = 'An agent without a model'
const blocks = (language: string): string[] => codeBlocks('docs/cases.md', SECTION, language)

it('the files of docs/cases.md print what it shows, and fail as it shows', async () => {
  const [agent = '', calls = '', seed = '', cases = ''] = [...blocks('js'), ...blocks('json'), ...blocks('yaml')]
  const files = { 'agent.mjs': agent, 'calls.json': calls, 'ada.yaml': seed, 'cases.yaml': cases }
  for (const [name, text] of Object.entries(files)) writeFileSync(toolmock.path(name), text)
  const [validate = '', run = ''] = (blocks('sh')[0] ?? '').split('\n').map((line) => line.replace('npx toolmock ', ''))
  expect(await toolmock.run(validate.split(' '))).toEqual({
    code: 0,
    stdout: 'cases.yaml: a valid cases file\n',
    stderr: '',
  })
  const args = run.replace('node agent', `${process.execPath} agent`).split(' ')
  const { code, stdout, stderr } = await toolmock.run(args)
  const [shown = ''] = blocks('text')
  expect(code).toBe(0)
  expect(`${stdout}${stderr}`).toContain(shown.slice(0, shown.indexOf('driven: ')))
  expect(stderr).toContain('\n3 cases: 3 passed, 0 failed\n')

  const recorded = JSON.parse(calls) as Record<string, unknown[]>
  recorded['pays-invoice']?.push(recorded['pays-invoice'][1])
  writeFileSync(toolmock.path('calls.json'), JSON.stringify(recorded))
  const failed = await toolmock.run(args)
  const [text = ''] = codeBlocks('docs/cases.md', 'When a case fails', 'text')
  expect(failed).toMatchObject({ code: 3, stderr: expect.stringContaining(text.slice(0, text.indexOf('…'))) })
})
