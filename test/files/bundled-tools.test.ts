import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/files/load.ts'
import type { Account } from '../../src/model/domain/account.ts'
import { TRAITS } from '../../src/model/domain/authorization-type.ts'
import type { Connector, Tool } from '../../src/model/domain/connector.ts'
import type { JsonObject } from '../../src/model/domain/json.ts'
import type { ThirdParty, ToolResponse } from '../../src/model/domain/ports.ts'
import { applySeed } from '../support/apply-seed.ts'
import { startThirdParties, type ThirdParties } from '../../src/service/third-party/client.ts'
import { testEnvironment } from '../support/environment.ts'
import { seedAccount } from '../support/rows.ts'
import { CALLS, REFUSED_CALLS } from './bundled-calls.ts'

const bundle = await loadSeeds(['bundled'], DOCUMENT_CHECKS)
/** `bundled-seed.test.ts` fails for a tool that has no call. */
const tools = bundle.connectors
  .flatMap((connector) => connector.tools.map((tool) => [tool.name, connector, tool] as const))
  .filter(([name]) => Object.hasOwn(CALLS, name))
const accounts = bundle.connectors.map(({ connector }) => seedAccount(connector))

describe('a bundled tool, called at its third party over HTTP with the account of a seed', () => {
  const environment = testEnvironment()
  let parties: ThirdParties
  let thirdParty: ThirdParty

  beforeAll(async () => {
    parties = await startThirdParties({ registry: { environment: () => environment } })
    thirdParty = parties.client(environment)
    await applySeed(environment, thirdParty, { ...bundle, accounts })
  })

  afterAll(() => parties.close())

  it.each(tools)('%s has a complete result', async (name, connector, tool) => {
    const answer = await call(connector, tool, CALLS[name] ?? {})
    expect(answer).toEqual({ kind: 'result', data: expect.any(Object) })
    expect(JSON.stringify(answer)).not.toMatch(/null|\{\{|undefined/)
  })

  it.each(tools.filter(([name]) => Object.hasOwn(REFUSED_CALLS, name)))(
    '%s can be refused',
    async (name, connector, tool) => {
      const { input, status } = REFUSED_CALLS[name]!
      const answer = await call(connector, tool, input)
      expect(answer).toMatchObject(
        status === 429 ? { kind: 'failed', status, retry_after: '30' } : { kind: 'failed', status },
      )
    },
  )

  async function call(connector: Connector, tool: Tool, input: JsonObject): Promise<ToolResponse> {
    const [account] = environment.model.accountIndex.where({
      connector: connector.connector,
      identifier: 'ada@example.com',
    })
    return thirdParty.call(connector, tool, await withToken(connector, account!), input)
  }

  /** Obtains a token first, as the service does for the types whose tokens it obtains itself. */
  async function withToken(connector: Connector, account: Account): Promise<Account> {
    if (TRAITS[connector.authorization_type].source !== 'service') return account
    const answer = await thirdParty.obtain(connector, account, (given) => given)
    if (!answer.granted) throw new Error(answer.description)
    return { ...account, credentials: answer.credentials }
  }
})
