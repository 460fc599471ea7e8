import { WORDS } from '../contract/generated/word-tables.ts'
import { ROUTES } from '../contract/route.ts'
import type { DocumentChecks } from '../documents/connector-checks.ts'
import { checkTemplate } from '../third-party/template.ts'

/** Gives `documents` the checks of modules that it must not import. */
export const DOCUMENT_CHECKS: DocumentChecks = {
  checkTemplate,
  words: WORDS,
  operations: new Map(ROUTES.map(({ operation, statuses }) => [operation, statuses])),
}

/** The same, with connectors allowed to name servers beyond loopback or not (`--allow-outbound`). */
export function documentChecks(allowOutbound: boolean | undefined): DocumentChecks {
  return { ...DOCUMENT_CHECKS, allowOutbound: allowOutbound ?? false }
}
