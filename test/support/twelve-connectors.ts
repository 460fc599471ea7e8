import { join } from 'node:path'
import { packageRoot } from '../../src/files/package-disk.ts'

/** The first connector of each authorization type, in the order of `seeds/default.yaml`. */
export const TWELVE_CONNECTORS = [
  'mail',
  'weather',
  'helpdesk',
  'code_hosting',
  'payments',
  'inventory',
  'ledger',
  'tracker',
  'workspace',
  'warehouse',
  'clinic',
  'encyclopedia',
] as const

/** Seeds of these connectors alone, for tests that name or count all of them. */
export const TWELVE_SEEDS = TWELVE_CONNECTORS.map((name) => join(packageRoot(), 'seeds/connectors', `${name}.yaml`))
