import { expect, it } from 'vitest'
import { ServiceResponse } from '../../../src/compare/conform/service-response.ts'
import { ConformTarget } from '../../../src/compare/conform/target.ts'
import { type JsonObject, parsedJson, textAt } from '../../../src/model/domain/json.ts'
import { Replayed } from '../../../src/compare/drift/replay.ts'
import type { Recorded, RecordedBody } from '../../../src/compare/record/recorded.ts'
import { Rehearsal, type RehearsalMock } from '../../../src/compare/record/rehearsal.ts'

function bodyOf(value: JsonObject): RecordedBody {
  const bytes = Buffer.from(JSON.stringify(value))
  return { bytes, size: bytes.length }
}

function toolCall(identifier: string): Recorded {
  const request = { headers: [], body: bodyOf({ identifier, tool_name: 'mail_list', tool_input: {} }) }
  const answer = { ...{ status: 200, reason: '', headers: [], isTorn: false }, body: bodyOf(dataFor(identifier)) }
  return { startedAt: 0, durationMs: 1, method: 'POST', target: '/api/v1/execute_tool', request, response: answer }
}

function dataFor(identifier: string): JsonObject {
  return { data: { letter: `for ${identifier}` }, execution_id: 'exec_1' }
}

/** A mock whose tool answers by what a test says. */
function mockOf(answerTo: (identifier: string) => JsonObject | undefined): RehearsalMock {
  let caller = ''
  const executeTool = (body: JsonObject): Promise<ServiceResponse> => {
    caller = textAt(body, 'identifier')
    const reply = answerTo(caller)
    return Promise.resolve(new ServiceResponse('', reply ? 200 : 404, {}, JSON.stringify(reply ?? {})))
  }
  return {
    send: ({ body = '' }) => executeTool(parsedJson(body) as JsonObject),
    executeTool,
    sendUnder: () => Promise.reject(new Error('no rule is tried')),
    caller: () => caller,
    save: () => Promise.resolve(),
    restore: () => Promise.resolve(),
    addAccounts: () => Promise.resolve(),
  }
}

it.each([
  ['of their own', () => (identifier: string) => (/ann|bob/.test(identifier) ? dataFor(identifier) : undefined), []],
  [
    'in the order of the calls',
    () => {
      const letters = [dataFor('ann'), dataFor('bob')]
      return (identifier: string) => (/ann|bob/.test(identifier) ? (letters.shift() ?? dataFor('bob')) : undefined)
    },
    ['mail_list answers an account what another was answered, when calls come in another order'],
  ],
  [
    'that are for everybody',
    () => (identifier: string) => dataFor(identifier === 'bob' ? 'bob' : 'ann'),
    ['mail_list answers an account that was not recorded'],
  ],
] as const)('a rehearsal with answers %s has the notes that follow', async (_which, answers, notes) => {
  const target = new ConformTarget('http://127.0.0.1:1')
  const rehearsal = new Rehearsal(mockOf(answers()), new Replayed(target, { id: 'a', secret: 'b' }))
  expect(await rehearsal.run([toolCall('ann'), toolCall('bob')])).toEqual(notes)
})
