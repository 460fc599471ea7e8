import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ToolmockProcess } from '../cli/toolmock-process.ts'
import { ROOT, run } from './fixture.ts'

const toolmock = ToolmockProcess.forThisFile()

/** The first code block of docs/grpc.md in a language. */
function block(language: string): string {
  const text = readFileSync(join(ROOT, 'docs/grpc.md'), 'utf8')
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? ''
}

it('the example of docs/grpc.md runs unchanged, with descriptors by buf', async () => {
  const work = toolmock.path('work')
  mkdirSync(work)
  writeFileSync(join(work, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(work, 'accounts.proto'), block('proto'))
  writeFileSync(join(work, 'client.mjs'), block('js'))
  for (const name of ['annotations', 'http']) {
    const path = `google/api/${name}.proto`
    cpSync(join(ROOT, 'node_modules/google-proto-files', path), join(work, path), { recursive: true })
  }
  const plugin = {
    local: join(ROOT, 'node_modules/.bin/protoc-gen-es'),
    out: '.',
    opt: ['target=js', 'import_extension=js'],
  }
  const options = { cwd: work, env: { ...process.env, BUF_CACHE_DIR: join(work, 'cache') } }
  const buf = join(ROOT, 'node_modules/.bin/buf')
  run(buf, ['build', '-o', 'client.binpb'], options)
  run(buf, ['generate', '--template', JSON.stringify({ version: 'v2', plugins: [plugin] })], options)
  symlinkSync(join(ROOT, 'node_modules'), join(work, 'node_modules'))
  const args = ['run', '--descriptors', 'client.binpb', '--', process.execPath, 'client.mjs']
  const { code, stdout, stderr } = await toolmock.begin(args, { cwd: work }).end
  expect([code, stdout.toString(), stderr.toString()]).toEqual([
    0,
    'created ada@example.com\n',
    expect.stringContaining('the contract was kept'),
  ])
})
