import { installPackages } from '../.build/install.ts'
import { postgresPrograms } from '../test/support/postgres.ts'

/** Installs what only the tests of `npm run test:rest` need, and says so where the machine has no PostgreSQL. */
export default function providePrerequisites(): void {
  for (const folder of ['test', 'test/runners']) installPackages(folder)
  if (postgresPrograms()) return
  const reason =
    'the tests of the project postgres need initdb below /usr/lib/postgresql; CONTRIBUTING.md names the package'
  if (process.env.CI) throw new Error(reason)
  console.warn(`skipped: ${reason}`)
}
