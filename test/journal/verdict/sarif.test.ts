import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Log } from 'sarif'
import { expect } from 'vitest'
import { OPERATION_LINES } from '../../../src/model/contract/generated/operation-lines.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { it, rendered, withViolations } from './reports.ts'

const read = async (mock: TestToolmock): Promise<Log> => {
  const { text, type } = await rendered(mock, 'sarif')
  expect(type).toBe('application/sarif+json')
  expect(text.isWellFormed()).toBe(true)
  return JSON.parse(text) as Log
}
const text = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } }
const closed = (required: readonly string[], properties: object) => {
  return { type: 'object', additionalProperties: false, required, properties }
}
const place = closed(['physicalLocation', 'logicalLocations'], {
  physicalLocation: closed(['artifactLocation'], {
    artifactLocation: closed(['uri', 'uriBaseId'], {
      uri: { type: 'string', format: 'uri-reference', pattern: '^[^/\\s][^\\s]*$' },
      uriBaseId: { const: 'TOOLMOCK_PACKAGE' },
    }),
    region: closed(['startLine'], { startLine: { type: 'integer', minimum: 1 } }),
  }),
  logicalLocations: {
    type: 'array',
    minItems: 1,
    items: closed(['name', 'fullyQualifiedName', 'kind'], {
      name: { type: 'string' },
      fullyQualifiedName: { type: 'string' },
      kind: { enum: ['member', 'resource'] },
    }),
  },
})
/** The parts of SARIF 2.1.0 that a log has and code scanning accepts. */
const SHAPE = closed(['$schema', 'version', 'runs'], {
  $schema: { const: 'https://json.schemastore.org/sarif-2.1.0.json' },
  version: { const: '2.1.0' },
  runs: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: closed(['tool', 'results', 'invocations', 'columnKind', 'originalUriBaseIds', 'properties'], {
      tool: closed(['driver'], {
        driver: closed(['name', 'version', 'semanticVersion', 'rules'], {
          name: { const: 'toolmock' },
          version: { type: 'string' },
          semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
          rules: {
            type: 'array',
            items: closed(
              ['id', 'name', 'shortDescription', 'fullDescription', 'help', 'defaultConfiguration', 'properties'],
              {
                id: { type: 'string' },
                name: { type: 'string', pattern: '^[A-Za-z]+$' },
                shortDescription: text,
                fullDescription: text,
                help: text,
                defaultConfiguration: closed(['level'], { level: { enum: ['error', 'warning', 'note'] } }),
                properties: { type: 'object' },
              },
            ),
          },
        }),
      }),
      originalUriBaseIds: { type: 'object' },
      invocations: {
        type: 'array',
        items: closed(['executionSuccessful', 'endTimeUtc'], {
          executionSuccessful: { const: true },
          endTimeUtc: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' },
        }),
      },
      columnKind: { const: 'utf16CodeUnits' },
      results: {
        type: 'array',
        items: {
          ...closed(['ruleId', 'ruleIndex', 'level', 'message', 'locations', 'partialFingerprints', 'properties'], {
            ruleId: { type: 'string' },
            ruleIndex: { type: 'integer', minimum: 0 },
            level: { enum: ['error', 'warning', 'note'] },
            message: text,
            locations: { type: 'array', minItems: 1, items: place },
            occurrenceCount: { type: 'integer', minimum: 1 },
            partialFingerprints: { type: 'object', additionalProperties: { type: 'string' } },
            properties: { type: 'object' },
          }),
        },
      },
      properties: { type: 'object' },
    }),
  },
})

it('has the shape of SARIF 2.1.0, and results whose rules are described', async ({ mock }) => {
  const log = await read(mock)
  const check = new Ajv2020({ validateFormats: false }).compile(SHAPE)
  expect(check(log), JSON.stringify(check.errors)).toBe(true)
  const [run] = log.runs
  const rules = run?.tool.driver.rules ?? []
  for (const { ruleId, ruleIndex = -1, level } of run?.results ?? []) {
    expect(rules[ruleIndex]).toMatchObject({ id: ruleId, defaultConfiguration: { level } })
  }
})

it('has a result for each finding, at the operation in the spec', async () => {
  await withViolations(async (mock, total) => {
    const [run] = (await read(mock)).runs
    const results = run?.results ?? []
    expect(results).toHaveLength(total.findings.length)
    const pages = results.find(({ locations }) => locations?.[0]?.logicalLocations?.[0]?.name === 'page_size')
    expect(pages).toMatchObject({
      ruleId: 'contract-violation',
      occurrenceCount: 2,
      message: {
        text: expect.stringMatching(
          /^list_connected_accounts: page_size must be an integer; found "ten" \(convention:G1\), 2 times\nGET \/api\/v1\/connected_accounts at .* \(req_\w+\): \?page_size=ten\n/,
        ),
      },
      locations: [{ physicalLocation: { region: { startLine: OPERATION_LINES['list_connected_accounts'] } } }],
    })
  })
})

it('gives a finding the same fingerprint in every run, and two findings different ones', async () => {
  const prints = async (size: string): Promise<string[]> => {
    const found: string[] = []
    await withToolmock({}, async (mock) => {
      await mock.api.get('/connected_accounts', { page_size: size, page_token: 'zzz' })
      await mock.api.post('/connected_accounts', { connector: 'mail' })
      const [run] = (await read(mock)).runs
      found.push(...(run?.results ?? []).map((each) => each.partialFingerprints?.['toolmockFinding/v1'] ?? ''))
    })
    return found
  }
  const first = await prints('ten')
  expect(new Set(first).size).toBe(2)
  expect(await prints('many')).toEqual(first)
})

it('has no link of a client in a message', async ({ mock }) => {
  const [run] = (await read(mock)).runs
  const texts = (run?.results ?? []).map(({ message }) => message.text ?? '')
  expect(texts.filter((each) => /\]\(/.test(each))).toEqual([])
  expect(texts.some((each) => each.includes('] (http://evil.example)'))).toBe(true)
})
