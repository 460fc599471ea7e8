import { describe, expect, it } from 'vitest'
import type { Environments } from './race-clients.ts'
import { CLIENTS, withEnvironments } from './race-clients.ts'

const RUNS = 20

/** What the verdict of a wrong client says, which names both requests where a finding is about two. */
const FINDINGS: Readonly<Record<keyof typeof CLIENTS, RegExp>> = {
  'refresh-race':
    /^token_refresh: refresh_token must be the refresh token that the last renewal answered; found the one that req_\w+ had spent, in req_\w+ /,
  'refresh-race-lost-update':
    /^update_connected_account: connected_account\.\S+\.refresh_token must not be older than the one that is stored; found one that was spent for the one that req_\w+ had stored, in req_\w+ /,
  'verify-race': /^rule "both go on to a tool" of scenario verify-race at service never fired /,
  'create-race': /^rule "both go on to a tool" of scenario create-race at service never fired /,
}

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('%s', (scenario) => {
  const verdicts = async ({ environment }: Environments, client: 'right' | 'wrong') => {
    const all: string[][] = []
    for (let run = 0; run < RUNS; run++) {
      const made = await environment(scenario)
      await CLIENTS[scenario][client](made)
      all.push(await made.reasons())
    }
    return all
  }

  it(`fails the verdict of a client that does not expect it, in ${RUNS} of ${RUNS} runs`, () =>
    withEnvironments(async (environments) => {
      const expected = Array.from({ length: RUNS }, () => [expect.stringMatching(FINDINGS[scenario])])
      expect(await verdicts(environments, 'wrong')).toEqual(expected)
    }))

  it(`passes the verdict of a client that expects it, in ${RUNS} of ${RUNS} runs`, () =>
    withEnvironments(async (environments) => {
      expect(await verdicts(environments, 'right')).toEqual(Array.from({ length: RUNS }, () => []))
    }))
})
