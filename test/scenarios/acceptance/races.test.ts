import { describe, expect, it } from 'vitest'
import { CLIENTS, type Scenario, withEnvironments } from './race-clients.ts'

const RUNS = 20

/** What the verdict says against a client, in each of so many runs. */
async function verdicts(scenario: Scenario, client: 'right' | 'wrong'): Promise<string[][]> {
  const all: string[][] = []
  await withEnvironments(async ({ environment }) => {
    for (let run = 0; run < RUNS; run++) {
      const race = await environment(scenario)
      await CLIENTS[scenario][client](race)
      all.push(await race.reasons())
    }
  })
  return all
}

async function expectJudged(scenario: Scenario, finding: RegExp): Promise<void> {
  const found = Array.from({ length: RUNS }, () => [expect.stringMatching(finding)])
  expect(await verdicts(scenario, 'wrong')).toEqual(found)
  expect(await verdicts(scenario, 'right')).toEqual(Array.from({ length: RUNS }, () => []))
}

describe(`bundled races, ${RUNS} of ${RUNS} runs of a wrong client and of a right one`, () => {
  it('refresh-race: given two callers that renew at once, then the second token is replayed, unless one renews for both', () =>
    expectJudged(
      'refresh-race',
      /^token_refresh: refresh_token must be the refresh token that the last renewal answered; found the one that req_\w+ had spent, in req_\w+ /,
    ))

  it('refresh-race-lost-update: given two updates at once, then the older tokens win, unless one is stored before the next renewal', () =>
    expectJudged(
      'refresh-race-lost-update',
      /^update_connected_account: .*refresh_token must not be older than the one that is stored; found one that was spent for the one that req_\w+ had stored, in req_\w+ /,
    ))

  it('verify-race: given two callers that verify at once, then the second gives up, unless it reads the account', () =>
    expectJudged('verify-race', /^rule "both go on to a tool" of scenario verify-race at service never fired /))

  it('create-race: given two callers that create at once, then the second gives up, unless it takes the 409 for success', () =>
    expectJudged('create-race', /^rule "both go on to a tool" of scenario create-race at service never fired /))
})
