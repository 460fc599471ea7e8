import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { expect, it } from 'vitest'
import { ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { describeWith } from '../../support/machine.ts'
import { ROOT } from './fixture.ts'

const toolmock = ToolmockProcess.forThisFile()
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> }

/** The files of a descriptor set without those of `google.protobuf`, which differ between versions of protoc. */
const filesOf = (path: string) =>
  fromBinary(FileDescriptorSetSchema, readFileSync(path)).file.filter(
    ({ name }) => !name.startsWith('google/protobuf/'),
  )

describeWith('protoc', 'a descriptor set that is checked in', () => {
  it.each(['src/servers/rpc/proto/descriptors.binpb', 'test/fixtures/rpc/acme.binpb'])(
    '%s is what npm run generate:descriptors makes of the definitions',
    (file) => {
      const command = (scripts['generate:descriptors'] ?? '').split(' && ').find((each) => each.includes(file))
      if (command === undefined) throw new Error(`npm run generate:descriptors does not make ${file}`)
      const made = toolmock.path('made.binpb')
      execFileSync('sh', ['-c', command.replace(file, made)], { cwd: ROOT })
      expect(filesOf(`${ROOT}${file}`)).toEqual(filesOf(made))
    },
  )
})
