import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embeddedDocument } from './generate/embedded-document.ts'
import { fieldTables } from './generate/field-tables.ts'
import { jsonSchemas } from './generate/json-schemas.ts'
import { lifecyclePages } from './generate/lifecycle-pages.ts'
import { operationsTable } from './generate/operations-table.ts'
import { routes } from './generate/routes.ts'
import { types } from './generate/types.ts'
import { validators } from './generate/validators.ts'
import { findStale, runSteps } from './generate/run.ts'
import type { Step } from './generate/step.ts'

/**
 * Everything that is derived from something else in this repository, in the order in which it is made. A step that finds its
 * inputs and outputs unchanged is skipped; a new kind of derived file is a new file in `.build/generate/` and a line here.
 */
const STEPS: readonly Step[] = [
  types,
  validators,
  routes,
  fieldTables,
  embeddedDocument,
  jsonSchemas,
  lifecyclePages,
  operationsTable,
]

const root = fileURLToPath(new URL('..', import.meta.url))

if (process.argv.includes('--check')) {
  const stale = await findStale(STEPS, root)
  for (const file of stale) console.error(`${relative(root, file)} is out of date: npm run generate`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const file of await runSteps(STEPS, root)) console.log(`generated ${relative(root, file)}`)
}
