import { createRegistry } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { messageFrom } from '../../../src/servers/rpc/transcoding.ts'
import {
  Account_Status,
  AccountSchema,
  file_acme_tools_v1_tools,
} from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'

it.each([
  ['a word that the enumeration lacks', 'PAUSED', ['PAUSED']],
  ['an empty word', '', []],
])('an answer with %s has the zero value, and only a word is a difference', (_what, status, reported) => {
  const words: string[] = []
  const differences = { word: (word: string) => void words.push(word), field: () => undefined }
  const registry = createRegistry(file_acme_tools_v1_tools)
  const message = messageFrom(AccountSchema, { id: 'ca_1', status }, { registry, differences })
  expect(message).toMatchObject({ id: 'ca_1', status: Account_Status.STATUS_UNSPECIFIED })
  expect(words).toEqual(reported)
})
