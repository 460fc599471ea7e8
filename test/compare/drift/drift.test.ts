import { describe, expect, it } from 'vitest'
import type { Mutant } from '../../mutants/mutant.ts'
import { MUTANTS } from '../../mutants/table.ts'
import { driftOf } from './broken-service.ts'

const UNCHANGED = { mutate: () => undefined }

describe('two mocks that choose alike', () => {
  it.each(Array.from({ length: 20 }, (_, at) => at + 1))('have no difference with the id seed %i', async (idSeed) => {
    // All checks take seconds: each seed asks its part of them, and the first asks all.
    const only = idSeed === 1 ? undefined : PARTS[idSeed % PARTS.length]
    const { report, leftovers } = await driftOf(UNCHANGED, { only }, { idSeed, mcp: idSeed === 1 })
    expect(report.findings).toEqual([])
    expect(report.gaps.contradicted).toEqual([])
    expect(leftovers).toEqual([])
  })

  it('are left as they were: the environments of checks are gone too', async () => {
    const made: string[] = []
    const mutant = {
      mutate: ({ around }: Parameters<Mutant['mutate']>[0]) =>
        around('create_token', (call, handler) => {
          made.push(call.environment.name)
          return handler(call)
        }),
    }
    await driftOf(mutant, { only: ['time/auth-request'] }, {}, async (baseUrl) => {
      const answer = await fetch(`${baseUrl}/_mock/environments`)
      expect(await answer.json()).toMatchObject({ environments: [{ name: 'default' }] })
    })
    expect(new Set(made).size).toBeGreaterThan(1)
  })
})

/** Ids of checks by operation. */
const PARTS = [
  ['list/*', 'search/*'],
  ['create/*', 'update/*'],
  ['link/*', 'verify/*', 'consent/*'],
  ['execute/*', 'time/*'],
  ['discovery/*', 'providers/*', 'token/*'],
]

/** Broken mocks with the class and the gap that the service's document and docs/fidelity.md give them, by hand. */
const LABELLED: readonly (readonly [mutant: string, label: string])[] = [
  ['token/type: the token type is MAC', 'mock G13'],
  ['token/lifetime: expires_in is missing', 'mock G13'],
  ['token/not-stored: a cache may keep tokens', 'mock G13'],
  ['token/wrong-secret: a wrong secret is a 400', 'mock G14'],
  ['bearer/missing-list_connected_accounts: a missing token is a 403', 'contract'],
  ['bearer/missing-list_connections: connections are listed without a token', 'mock G15'],
  ['bearer/challenge: a 401 lacks WWW-Authenticate', 'mock G15'],
  ['bearer/before-validation: search checks its text before the token', 'mock G17'],
  ['errors/code-404: a 404 has code 3', 'mock G16'],
  ['errors/json: errors are text/plain', 'contract'],
  ['errors/request-id-kept: X-Request-Id of the request is not taken over', 'mock G18'],
  ['errors/method: a method that is not served is a 404', 'mock G8'],
  ['errors/method: a 405 lacks Allow', 'mock G8'],
  ['errors/too-large: a large body is a 400', 'mock G7'],
  ['create/created: create answers 200', 'contract'],
  ['create/other-organization: a 409 across scopes', 'mock G20'],
  ['create/duplicate: the same identifier again is a 200 with the account that is there', 'contract'],
  ['create/id: ids start with acc_', 'contract'],
  ['create/active: create answers PENDING_AUTH whatever was stored', 'mock G24'],
  ['create/updated-at: instants have no milliseconds', 'mock G54'],
  ['create/unknown-connector: create at an unknown connector is a 404', 'mock G19'],
  ['create/zero-values: instants that were never set are null', 'mock G53'],
  ['details/no-credentials: details shows the access token', 'contract'],
  ['details/what-is-no-credential: details lacks scopes and domain', 'mock G22'],
  ['details/ambiguous: of several accounts with a name the first is taken', 'mock G21'],
  ['details/by-either: get-details finds an account by its whole scope alone', 'mock G52'],
  ['update/config-merges: update replaces api_config', 'contract'],
  ['update/activates: new credentials leave PENDING_AUTH', 'mock G27'],
  ['delete/twice: a second delete is a 200', 'contract'],
  ['connections/custom: the provider of a connection is its name in upper case', 'mock G41'],
  ['list/delete-between-pages: page tokens are offsets', 'mock G4'],
  ['list/shape: next_page_token is null on the last page', 'contract'],
  ['list/total: total_size is a text', 'contract'],
  ['list/order: the newest account comes first', 'mock G4'],
  ['list/default-page-size: a page has twenty accounts by default', 'mock G1'],
  ['search/two-characters: search takes two characters', 'contract'],
  ['link/unknown-id: a link for an unknown id is a 404', 'mock G34'],
  ['link/relative-url: user_verify_url is not checked', 'mock G35'],
  ['link/expiry: the expiry is in the past', 'mock G28'],
  ['verify/mismatch: another identifier is a 404', 'contract'],
  ['time/auth-request: an auth request can be verified at any time', 'mock G32'],
  ['providers/http-proxy: proxy_url may be http', 'contract'],
  ['providers/defaults: metadata is null when none was set', 'contract'],
  ['providers/pattern-type: a pattern may have any type', 'mock G38'],
  ['execute/params: params is not read, and so two inputs do not differ', 'mock G11'],
  ['execute/by-identifier: an identifier needs a connector beside it', 'mock G21'],
  ['execute/last-used: an execution leaves last_used_at unset', 'mock G26'],
  ['mcp/create-duplicate: a name that is in use is a 409', 'mock G67'],
  ['consent/state: state does not come back', 'contract'],
  ['consent/state: state comes back encoded twice', 'contract'],
  ["consent/redirect: the verify URL's own query is lost", 'contract'],
  ['time/link-before: a link works for five minutes and says fifteen', 'contract'],
]

it.each(LABELLED)('a mock that is broken: %s is found as %s', async (name, label) => {
  const mutant = MUTANTS.find((each) => each.name === name)!
  const { report } = await driftOf(mutant, { only: [mutant.caughtBy] }, { mcp: mutant.caughtBy.startsWith('mcp/') })
  const labels = report.findings.map(({ class: of, gap }) => (gap === undefined ? of : `${of} ${gap}`))
  expect(labels).toContain(label)
})
