import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { describeWith } from '../../support/machine.ts'
import { GOOGLE, ROOT, run } from './fixture.ts'

const toolmock = ToolmockProcess.forThisFile()

/** The first code block of docs/grpc.md in a language. */
function block(language: string): string {
  const text = readFileSync(join(ROOT, 'docs/grpc.md'), 'utf8')
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? ''
}

describeWith('protoc', 'the example of docs/grpc.md', () => {
  it('runs unchanged, with descriptors by protoc', async () => {
    const work = toolmock.path('work')
    mkdirSync(work)
    writeFileSync(join(work, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(work, 'accounts.proto'), block('proto'))
    writeFileSync(join(work, 'client.mjs'), block('js'))
    const plugin = `--plugin=protoc-gen-es=${join(ROOT, 'node_modules/.bin/protoc-gen-es')}`
    const output = [plugin, '--es_out=.', '--es_opt=target=js,import_extension=js']
    const files = ['accounts.proto', 'google/api/annotations.proto', 'google/api/http.proto']
    run('protoc', ['-I.', `-I${GOOGLE}`, ...output, ...files], { cwd: work })
    run('protoc', ['-I.', `-I${GOOGLE}`, '--include_imports', '--descriptor_set_out=client.binpb', 'accounts.proto'], {
      cwd: work,
    })
    symlinkSync(join(ROOT, 'node_modules'), join(work, 'node_modules'))
    const args = ['run', '--descriptors', 'client.binpb', '--', process.execPath, 'client.mjs']
    const { code, stdout, stderr } = await toolmock.begin(args, { cwd: work }).end
    expect([code, stdout.toString(), stderr.toString()]).toEqual([
      0,
      'created ada@example.com\n',
      expect.stringContaining('the contract was kept'),
    ])
  })
})
