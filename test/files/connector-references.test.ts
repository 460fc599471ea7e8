import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentChecks } from '../../src/app/document-checks.ts'
import { References } from '../../src/files/connector-references.ts'
import { fileProblems, readConfigDocument } from '../../src/files/read.ts'
import { validateFiles } from '../../src/files/validate.ts'
import { withFiles } from './files.ts'
import { expectProblems, goldenCases } from './golden.ts'

const HEAD = 'connector: pad\nauthorization_type: API_KEY\n'
const SCHEMA = 'input_schema: { properties: { title: { type: string }, place: { properties: { city: {} } } } }'
const GET = 'responders: [{ on: { method: GET, path: "/v1/notes/{id}" }, respond: { body: { id: 1, title: x } } }]'

/** A connector with one tool. */
function withTool(call: string, result = '{}', responders = GET): string {
  return `${HEAD}tools:\n  - name: t\n    ${SCHEMA}\n    call: ${call}\n    result: ${result}\n${responders}\n`
}

const CALL = '{ method: GET, path: /v1/notes/1 }'

async function messagesOf(text: string): Promise<string[]> {
  const document = await readConfigDocument(text, 'c.yaml', documentChecks(false))
  return document.kind === 'connector' ? fileProblems(document).map(({ message }) => message) : [document.kind]
}

describe('a wrong reference inside a connector file is reported with its place', () => {
  it.each(goldenCases('references'))('%s', async (_kind, text, problems) => {
    expectProblems(await messagesOf(text), problems)
  })

  it.each<[string, string, string]>([
    ...['json', 'id', 'now', 'else', 'this', 'null'].map((as): [string, string, string] => [
      `a result named ${as}, which a template reads as something else`,
      `${HEAD}collections: { notes: {} }\nresponders: [{ on: {}, steps: [{ list: notes, as: '${as}' }], respond: {} }]\n`,
      `\`responders[0].steps[0].as\` is "${as}", which templates read as something else; allowed: another name`,
    ]),
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
