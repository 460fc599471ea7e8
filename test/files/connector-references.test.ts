import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentChecks } from '../../src/app/document-checks.ts'
import { References } from '../../src/files/connector-references.ts'
import { fileProblems, readDocument } from '../../src/files/read.ts'
import { validateFiles } from '../../src/files/validate.ts'
import { withFiles } from './files.ts'

const HEAD = 'connector: pad\nauthorization_type: API_KEY\n'
const SCHEMA = 'input_schema: { properties: { title: { type: string }, place: { properties: { city: {} } } } }'
const GET = 'responders: [{ on: { method: GET, path: "/v1/notes/{id}" }, respond: { body: { id: 1, title: x } } }]'

/** A connector with one tool. */
function withTool(call: string, result = '{}', responders = GET): string {
  return `${HEAD}tools:\n  - name: t\n    ${SCHEMA}\n    call: ${call}\n    result: ${result}\n${responders}\n`
}

const CALL = '{ method: GET, path: /v1/notes/1 }'

async function messagesOf(text: string): Promise<string[]> {
  const document = await readDocument(text, 'c.yaml', documentChecks(false))
  return document.kind === 'connector' ? fileProblems(document).map(({ message }) => message) : [document.kind]
}

describe('a wrong reference inside a connector file is reported with its place', () => {
  it.each<[string, string, string]>([
    [
      'an input that the schema does not have',
      withTool('{ method: GET, path: "/v1/notes/{{input.titel}}" }'),
      'c.yaml:6:32: `tools[0].call.path` is "/v1/notes/{{input.titel}}" with the input titel, which the schema of the tool does not have (did you mean title?); allowed: inputs of the schema (title, place)',
    ],
    [
      'an input inside an input',
      withTool('{ method: GET, path: /v1/notes/1, query: { c: "{{input.place.town}}" } }'),
      '`tools[0].call.query.c` is "{{input.place.town}}" with the input town',
    ],
    ['an input in a result', withTool(CALL, '{ a: "{{input.none}}" }'), '`tools[0].result.a` is "{{input.none}}"'],
    [
      'a field that no answer has',
      withTool(CALL, '{ a: "{{response.body.tilte}}" }'),
      '`tools[0].result.a` is "{{response.body.tilte}}" with the field tilte, which no answer to the call has (did you mean title?); allowed: fields of the answers (id, title)',
    ],
    [
      'a part that a response does not have',
      withTool(CALL, '{ a: "{{response.bdy.id}}" }'),
      '(did you mean body?); allowed: fields of response (status, headers, body)',
    ],
    [
      'a path that no responder answers',
      withTool('{ method: GET, path: "/v1/note/{{input.title}}" }'),
      '`tools[0].call.path` is "GET /v1/note/{{input.title}}", which no responder answers',
    ],
    [
      'a method that no responder answers',
      withTool('{ method: POST, path: /v1/notes/1 }'),
      'allowed: a call that a responder answers (GET /v1/notes/{id})',
    ],
    [
      'a field of the request that there is not',
      `${HEAD}responders: [{ on: {}, respond: { body: "{{request.parms.id}}" } }]\n`,
      'with request.parms.id (did you mean params?)',
    ],
    [
      'a part that the path does not capture',
      `${HEAD}responders: [{ on: { path: "/{note_id}" }, respond: { body: "{{request.params.noteid}}" } }]\n`,
      '(did you mean note_id?); allowed: parts that the path of the responder captures (note_id)',
    ],
    [
      'a field of the account that there is not',
      `${HEAD}responders: [{ on: {}, respond: { body: "{{account.email}}" } }]\n`,
      'allowed: fields of account (id, organization_id, user_id, connector, identifier,',
    ],
    [
      'a field of a page that there is not',
      `${HEAD}collections: { notes: {} }\nresponders: [{ on: {}, steps: [{ list: notes }], respond: { body: { n: "{{page.nxt}}" } } }]\n`,
      'with page.nxt (did you mean next?)',
    ],
    [
      'a result that no step has',
      `${HEAD}collections: { notes: {} }\nresponders: [{ on: {}, steps: [{ get: notes, key: a }], respond: { body: "{{items}}" } }]\n`,
      "unknown name or helper 'items'",
    ],
    [
      'a collection that there is not',
      `${HEAD}collections: { notes: {} }\nresponders: [{ on: {}, steps: [{ list: note }] }]\n`,
      '`responders[0].steps[0].list` is "note" (did you mean notes?); allowed: a collection of this file (notes)',
    ],
    [
      'two actions',
      `${HEAD}collections: { a: {} }\nresponders: [{ on: {}, steps: [{ list: a, get: a }] }]\n`,
      '`responders[0].steps[0]` is with get and list; allowed: exactly one of create, get, list, update, delete, refuse',
    ],
    [
      'a key of another action',
      `${HEAD}collections: { a: {} }\nresponders: [{ on: {}, steps: [{ create: a, key: x }] }]\n`,
      '`responders[0].steps[0].key` is set beside create; allowed: create, item, unless, as, otherwise',
    ],
    [
      'an operator that there is not',
      `${HEAD}collections: { a: {} }\nresponders: [{ on: {}, steps: [{ list: a, where: { x: { gtt: 1 } } }] }]\n`,
      '`responders[0].steps[0].where.x.gtt` is an unknown operator (did you mean gt?)',
    ],
    [
      'a get without key and where',
      `${HEAD}collections: { a: {} }\nresponders: [{ on: {}, steps: [{ get: a }] }]\n`,
      'is without key and where; allowed: exactly one of key and where',
    ],
    [
      'two items with one key',
      `${HEAD}collections: { a: { key: n, seed: [{ n: 1 }, { n: 1 }] } }\n`,
      '`collections.a.seed[1]` is 1 as its n for the second time',
    ],
    ['a limit without a time', `${HEAD}rate_limit: { calls: 1 }\n`, '`rate_limit.every` is required'],
    [
      'shares of a latency upside down',
      `${HEAD}latency: { p50: 5s, p95: 1s }\n`,
      '`latency.p95` is "1s"; allowed: at least p50, which is 5000',
    ],
    ['a latency upside down', `${HEAD}latency: { min: 2s, max: 1s }\n`, '`latency.max` is "1s"; allowed: at least min'],
    [
      'a helper that there is not',
      `${HEAD}responders: [{ on: {}, respond: { body: "{{jsn request.body}}" } }]\n`,
      'c.yaml:3:41: `responders[0].respond.body` is "{{jsn request.body}}"; allowed: a template that can be read; unknown helper \'jsn\' (did you mean json?)',
    ],
    [
      'a block that there is not',
      `${HEAD}responders: [{ on: {}, respond: { body: "{{#eech request.body}}{{/eech}}" } }]\n`,
      "unknown block '#eech' (did you mean #each?)",
    ],
    [
      'a variable that there is not',
      `${HEAD}responders: [{ on: {}, respond: { body: "{{reqest.body}}" } }]\n`,
      "unknown name or helper 'reqest' (did you mean request?)",
    ],
    [
      'a faker method that there is not',
      `${HEAD}responders: [{ on: {}, respond: { body: "{{faker 'person.fulName'}}" } }]\n`,
      "c.yaml:3:41: `responders[0].respond.body` is \"{{faker 'person.fulName'}}\"; allowed: a template that can be read; faker 'person.fulName': unknown method (did you mean person.fullName?)",
    ],
    [
      'a faker module that there is not',
      `${HEAD}responders: [{ on: {}, respond: { body: "{{faker 'persn.fullName'}}" } }]\n`,
      "unknown module 'persn' (did you mean person?)",
    ],
    ...['json', 'id', 'now', 'else', 'this', 'null'].map((as): [string, string, string] => [
      `a result named ${as}, which a template reads as something else`,
      `${HEAD}collections: { notes: {} }\nresponders: [{ on: {}, steps: [{ list: notes, as: '${as}' }], respond: {} }]\n`,
      `\`responders[0].steps[0].as\` is "${as}", which templates read as something else; allowed: another name`,
    ]),
    [
      'a key with a dot',
      `${HEAD}collections: { notes: { key: meta.id } }\n`,
      'c.yaml:3:30: `collections.notes.key` is "meta.id"; allowed: the name of a field, without a dot',
    ],
    [
      'a key of a seed that is no text',
      `${HEAD}collections: { notes: { seed: [{ id: { a: 1 } }] } }\n`,
      '`collections.notes.seed[0].id` is an object; allowed: a text or a number, because id is the key',
    ],
    [
      'a key of fields that is no text',
      `${HEAD}collections: { notes: { fields: { id: true } } }\n`,
      '`collections.notes.fields.id` is true; allowed: a text or a number, because id is the key',
    ],
  ])('%s', async (_, text, expected) => {
    const messages = await messagesOf(text)
    expect(messages).toHaveLength(1)
    expect(messages[0]).toContain(expected)
  })

  it.each<[string, string]>([
    [
      'an input of a schema that takes any',
      `${HEAD}tools: [{ name: t, input_schema: { additionalProperties: true, properties: {} }, call: { method: GET, path: "/{{input.x}}" } }]\n`,
    ],
    [
      'a schema that says nothing of properties',
      `${HEAD}tools: [{ name: t, call: { method: GET, path: "/{{input.x}}" } }]\n`.replace(
        'call',
        'input_schema: { type: object }, call',
      ),
    ],
    [
      'a server of the own',
      withTool('{ method: PUT, path: /other }').replace('tools:', 'base_url: http://127.0.0.1:9\ntools:'),
    ],
    [
      'a body that a template makes',
      withTool(
        CALL,
        '{ a: "{{response.body.any}}" }',
        'responders: [{ on: {}, respond: { body: "{{request.query}}" } }]',
      ),
    ],
    ['an input in a part of the path', withTool('{ method: GET, path: "/v1/notes/n-{{input.title}}?x=1" }')],
    ['a field inside of each', withTool(CALL, '{ a: "{{#each response.body.id}}{{input.x}}{{/each}}" }')],
  ])('%s is accepted', async (_, text) => {
    expect(await messagesOf(text)).toEqual([])
  })

  it('a responder that no tool calls is a warning', async () => {
    const text = withTool(CALL, '{}', `${GET.slice(0, -1)}, { on: { method: GET, path: /v2 }, respond: {} }]`)
    await withFiles({ 'pad.yaml': text }, async (folder) => {
      const { problems, warnings } = await validateFiles([join(folder, 'pad.yaml')], documentChecks(false))
      expect(problems).toEqual([])
      expect(warnings.map(({ line, message }) => [line, message.replace(/^.*?: /, '')])).toEqual([
        [
          8,
          '`responders[1].on` is "GET /v2", which no tool calls; allowed: a request that a tool makes, or direct calls alone',
        ],
      ])
    })
  })

  it.each([
    ['a file of its own', (text: string) => text, 'responders[1].on', 'pad.yaml:8:109'],
    [
      'a seed',
      (text: string) => `connectors:\n  - ${text.trimEnd().replaceAll('\n', '\n    ')}\n`,
      'connectors[0].responders[1].on',
      'pad.yaml:9:11',
    ],
  ])('the warning names a near call, with the place in %s', async (_, written, path, place) => {
    const text = withTool(CALL, '{}', `${GET.slice(0, -1)}, { on: { method: GET, path: /v1/note/1 }, respond: {} }]`)
    await withFiles({ 'pad.yaml': written(text) }, async (folder) => {
      const { problems, warnings } = await validateFiles([join(folder, 'pad.yaml')], documentChecks(false))
      expect(problems).toEqual([])
      const [warning = ''] = warnings.map(({ message }) => message.slice(folder.length + 1))
      expect(warning.slice(0, place.length)).toBe(place)
      expect(warning).toContain(`\`${path}\` is "GET /v1/note/1", which no tool calls (did you mean GET /v1/notes/1?)`)
    })
  })
})

it('finds the responders of a call in time that grows with the number of tools, and not with its square', () => {
  const milliseconds = (count: number): number => {
    const numbers = Array.from({ length: count }, (_, at) => String(at))
    const document = {
      connector: 'pad',
      tools: numbers.map((at) => ({ name: `t${at}`, call: { method: 'GET', path: `/v1/n${at}/{{input.id}}` } })),
      responders: numbers.map((at) => ({ on: { method: 'GET', path: `/v1/n${at}/{id}` }, respond: {} })),
    }
    const before = process.cpuUsage().user
    const references = new References(document)
    expect([...references.unansweredCalls(), ...references.unreachedResponders()]).toEqual([])
    return (process.cpuUsage().user - before) / 1000
  }
  milliseconds(1000)
  const times = [1000, 16_000].map((count) => Math.min(...[1, 2, 3].map(() => milliseconds(count))))
  // Sixteen times as many take 16 times as long, or 256 times by the square.
  expect((times[1] ?? 0) / Math.max(1, times[0] ?? 0)).toBeLessThan(120)
})
