import type { TestProject } from 'vitest/node'
import { TestPostgres } from '../test/support/postgres.ts'

/** The PostgreSQL that has the state of the tests. Nothing that is written to it has to survive a crash of the machine. */
export default async function providePostgres(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await TestPostgres.start()
  await postgres.query('alter system set fsync = off')
  await postgres.query('select pg_reload_conf()')
  project.provide('postgres', postgres.url)
  return () => postgres.stop()
}
