import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apiReference } from './generate/api-reference.ts'
import { areasTable } from './generate/areas-table.ts'
import { calendarGuide } from './generate/calendar-guide.ts'
import { dashboard } from './generate/dashboard.ts'
import { controlDocument, controlRoutes } from './generate/control-document.ts'
import { controlInput } from './generate/control-input.ts'
import { embeddedDocument } from './generate/embedded-document.ts'
import { errorReference } from './generate/error-reference.ts'
import { fileReference } from './generate/file-reference.ts'
import { conformancePage } from './generate/conformance-page.ts'
import { fieldTables } from './generate/field-tables.ts'
import { groups } from './generate/groups.ts'
import { jsonSchemas } from './generate/json-schemas.ts'
import { basisTable } from './generate/basis-table.ts'
import { operationLines } from './generate/operation-lines.ts'
import { optionsTables } from './generate/options-tables.ts'
import { rules } from './generate/rules.ts'
import { routes } from './generate/routes.ts'
import { rpcDescriptors, rpcFixture } from './generate/rpc-descriptors.ts'
import { supportedPage } from './generate/supported-page.ts'
import { tables } from './generate/tables.ts'
import { controlTypes, types } from './generate/types.ts'
import { validators } from './generate/validators.ts'
import { wordTables } from './generate/word-tables.ts'
import { findStale, runSteps } from './generate/run.ts'
import type { Step } from './generate/step.ts'

/**
 * Everything that is derived from something else in this repository, in the order in which it is made. A step that finds its
 * inputs and outputs unchanged is skipped; a new kind of derived file is a new file in `.build/generate/` and a line here.
 */
const STEPS: readonly Step[] = [
  tables,
  types,
  validators,
  routes,
  fieldTables,
  wordTables,
  rpcDescriptors,
  rpcFixture,
  embeddedDocument,
  basisTable,
  operationLines,
  rules,
  jsonSchemas,
  controlTypes,
  controlDocument,
  controlRoutes,
  controlInput,
  conformancePage,
  supportedPage,
  optionsTables,
  calendarGuide,
  fileReference,
  errorReference,
  apiReference,
  groups,
  areasTable,
  dashboard,
]

const root = fileURLToPath(new URL('..', import.meta.url))

/** Files in a folder `generated` are not in the repository; each clone makes its own. */
const isCheckedIn = (step: Step): boolean => !step.outputs.every((path) => path.includes('/generated/'))

const generated = STEPS.filter((step) => !isCheckedIn(step))
const onlyCheck = process.argv.includes('--check')
if (onlyCheck || process.env.CI) {
  // CI never rewrites a checked-in file: the author of a change has to see and commit the difference.
  // The other files come first, because the modules that make the checked-in files import them.
  await write(generated)
  for (const file of await findStale(STEPS.filter(isCheckedIn), root, onlyCheck)) {
    console.error(`${relative(root, file)} is out of date: npm run generate, and commit it`)
    process.exitCode = 1
  }
} else await write(STEPS)

async function write(steps: readonly Step[]): Promise<void> {
  for (const file of await runSteps(steps, root)) console.log(`generated ${relative(root, file)}`)
}
