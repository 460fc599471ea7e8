import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { bareConnector } from '../../src/model/domain/connector-defaults.ts'
import { fileProblems, readConfigDocument } from '../../src/files/read.ts'
import { checkScenario } from '../../src/files/scenario-files.ts'
import { seedProblems } from '../../src/files/seed-files.ts'
import { cpuTime } from '../support/cpu-time.ts'

const MANY = Array.from({ length: 600 }, (_, at) => at)
const KNOWN = new Map(MANY.map((at) => [`application_${at}`, bareConnector(`application_${at}`, 'NO_AUTH')]))
const HEAD = { connector: 'c', authorization_type: 'NO_AUTH' }
const path = (version: string, at: number) => `/${version}/resources/with/a/path/of/some/length/${at}`
const RESPONDERS = MANY.map((at) => ({ on: { method: 'GET', path: path('v2', at) }, respond: {} }))

async function messagesOf(document: object): Promise<string[]> {
  const read = await readConfigDocument(JSON.stringify(document), 'body', DOCUMENT_CHECKS)
  if (read.kind === 'seed') return seedProblems(read, KNOWN).map(({ message }) => message)
  const others = read.kind === 'scenario' ? checkScenario(read.source.value, DOCUMENT_CHECKS, KNOWN) : []
  return fileProblems(read, others).map(({ message }) => message)
}

it.each<[string, object]>([
  [
    'calls that nothing answers',
    {
      ...HEAD,
      tools: MANY.map((at) => ({ name: `t_${at}`, call: { method: 'GET', path: path('v1', at) } })),
      responders: RESPONDERS,
    },
  ],
  [
    'inputs that a tool does not take',
    {
      ...HEAD,
      tools: [
        {
          name: 't',
          input_schema: { properties: Object.fromEntries(MANY.map((at) => [`property_of_the_input_${at}`, {}])) },
          call: {
            method: 'GET',
            path: path('v2', 1),
            body: MANY.map((at) => `{{input.propertyy_of_the_input_${at}}}`),
          },
        },
      ],
      responders: RESPONDERS,
    },
  ],
  [
    'collections that there are not',
    {
      ...HEAD,
      collections: Object.fromEntries(MANY.map((at) => [`collection_of_the_file_${at}`, {}])),
      responders: MANY.map((at) => ({
        on: { path: path('v2', at) },
        steps: [{ list: `collections_of_the_file_${at}` }],
      })),
    },
  ],
  [
    'unknown words',
    { settings: { vocabulary: Object.fromEntries(MANY.map((at) => [`organization_idd_${at}`, `w_${at}`])) } },
  ],
  ['connectors of accounts', { accounts: MANY.map((at) => ({ connector: `aplication_${at}`, identifier: `${at}` })) }],
  [
    'connectors of rules',
    {
      name: 's',
      rules: MANY.map((at) => ({
        name: `r_${at}`,
        at: 'service',
        on: { connector: `aplication_${at}` },
        do: [{ latency: 1 }],
      })),
    },
  ],
])('hints at what wrong words may mean: end where a document has thousands of them: %s', async (_, document) => {
  const messages = await messagesOf(document)
  expect(messages).toHaveLength(101)
  const hints = messages.filter((message) => message.includes('did you mean')).length
  expect(hints).toBeGreaterThan(0)
  expect(hints).toBeLessThan(70)
  expect(messages.join('').length).toBeLessThan(500_000)
})

it('reads templates that name many inputs and fields of answers in linear time', async () => {
  const timeOf = (count: number): Promise<number> => {
    const names = Array.from({ length: count }, (_, at) => `property_${at}`)
    const answer = Object.fromEntries(names.map((name) => [name, 1]))
    const tool = {
      name: 't',
      input_schema: { properties: Object.fromEntries(names.map((name) => [name, {}])) },
      call: { method: 'POST', path: '/v1', body: names.map((name) => `{{input.${name}}}`) },
      result: Object.fromEntries(names.map((name) => [name, `{{response.body.${name}}}`])),
    }
    const document = { ...HEAD, tools: [tool], responders: [{ on: {}, respond: { body: answer } }] }
    return cpuTime(async () => expect(await messagesOf(document)).toEqual([]))
  }
  const few = await timeOf(2_000)
  // Five times as many took more than twenty times as long.
  expect((await timeOf(10_000)) / few).toBeLessThan(15)
})

it('a list of allowed names says how many more there are, and has the one that was probably meant', async () => {
  const rule = (connector: string) => ({
    name: 's',
    rules: [{ name: 'r', at: 'service', on: { connector }, do: [{ timeout: {} }] }],
  })
  const [near = ''] = await messagesOf(rule('aplication_599'))
  expect(near).toMatch(/; allowed: application_0, .*, application_38, application_599 and 560 more$/)
  const [far = ''] = await messagesOf(rule('mail'))
  expect(far).toMatch(/; allowed: application_0, .*, application_39 and 560 more$/)
})
