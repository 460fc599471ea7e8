import { type AppOptions, createApp } from '../../../src/app/app.ts'
import { findDrift, type DriftOptions, type DriftResult } from '../../../src/compare/drift/run.ts'
import { withBrokenMock } from '../../mutants/broken-mock.ts'
import type { Mutant } from '../../mutants/mutant.ts'

/** Compares a mock that is broken, or has other choices, with the mock as it is. `after` may look at the former afterwards. */
export function driftOf(
  mutant: Pick<Mutant, 'mutate'>,
  options: Partial<DriftOptions> = {},
  service: AppOptions = {},
  after: (baseUrl: string) => Promise<void> = () => Promise.resolve(),
): Promise<DriftResult> {
  return withBrokenMock(mutant, service, async ({ baseUrl, client }) => {
    const result = await findDrift({
      ...{ baseUrl, client, prefix: 'toolmock-drift-test', mirror: false },
      ...{ allowWrites: true, controlApi: true, tryRemedies: false },
      withMock: async (_options, use) => {
        const app = await createApp({ mcp: service.mcp ?? false })
        try {
          return await use((await app.listen({ host: '127.0.0.1', port: 0 })).url)
        } finally {
          await app.close()
        }
      },
      ...options,
    })
    await after(baseUrl)
    return result
  })
}
