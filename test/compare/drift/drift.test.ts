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
  ['token-type-mac', 'mock G13'],
  ['token-without-lifetime', 'mock G13'],
  ['token-cacheable', 'mock G13'],
  ['token-wrong-client-400', 'mock G14'],
  ['bearer-missing-403', 'contract'],
  ['bearer-open-connections', 'mock G15'],
  ['bearer-without-challenge', 'mock G15'],
  ['validation-before-bearer', 'mock G17'],
  ['error-code-number', 'mock G16'],
  ['error-as-text', 'contract'],
  ['request-id-lost', 'mock G18'],
  ['method-404', 'mock G8'],
  ['method-without-allow', 'mock G8'],
  ['too-large-400', 'mock G7'],
  ['create-200', 'contract'],
  ['create-across-scopes', 'mock G20'],
  ['create-twice', 'contract'],
  ['create-id-prefix', 'contract'],
  ['create-always-pending', 'mock G24'],
  ['create-instant-without-milliseconds', 'mock G54'],
  ['create-unknown-connector-404', 'mock G19'],
  ['create-null-instants', 'mock G53'],
  ['details-show-token', 'contract'],
  ['details-hide-scopes', 'mock G22'],
  ['locate-by-first', 'mock G21'],
  ['details-exact-scope', 'mock G52'],
  ['update-replaces-config', 'contract'],
  ['update-does-not-activate', 'mock G27'],
  ['delete-twice', 'contract'],
  ['connection-provider-by-name', 'mock G41'],
  ['page-by-offset', 'mock G4'],
  ['page-token-null', 'contract'],
  ['total-as-text', 'contract'],
  ['list-newest-first', 'mock G4'],
  ['list-page-of-twenty', 'mock G1'],
  ['search-two-characters', 'contract'],
  ['link-unknown-id-404', 'mock G34'],
  ['link-any-url', 'mock G35'],
  ['link-in-the-past', 'mock G28'],
  ['verify-mismatch-404', 'contract'],
  ['auth-request-never-expires', 'mock G32'],
  ['provider-http-proxy', 'contract'],
  ['provider-metadata-null', 'contract'],
  ['provider-any-pattern-type', 'mock G38'],
  ['execute-no-alias', 'mock G11'],
  ['execute-needs-connector', 'mock G21'],
  ['execute-unnoticed', 'mock G26'],
  ['mcp-config-exists', 'mock G67'],
  ['state-lost', 'contract'],
  ['state-encoded-twice', 'contract'],
  ['verify-url-query-lost', 'contract'],
  ['link-expires-at-once', 'contract'],
]

describe('a mock that is broken', () => {
  it.each(LABELLED)('%s is found as %s', async (name, label) => {
    const mutant = MUTANTS.find((each) => each.name === name)!
    const { report } = await driftOf(mutant, { only: [mutant.caughtBy] }, { mcp: mutant.caughtBy.startsWith('mcp/') })
    const labels = report.findings.map(({ class: of, gap }) => (gap === undefined ? of : `${of} ${gap}`))
    expect(labels).toContain(label)
  })
})
