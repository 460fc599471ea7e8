import { WORDS } from '../model/contract/generated/word-tables.ts'
import { ROUTES } from '../model/contract/route.ts'
import { PROXY_REQUEST } from '../model/contract/shapes.ts'
import type { DocumentChecks } from '../files/connector-checks.ts'
import { ANY_STATUS } from '../files/load.ts'
import { checkTemplate, templatePaths } from '../service/third-party/template.ts'

/** Gives `documents` the checks of modules that it must not import. */
export const DOCUMENT_CHECKS: DocumentChecks = {
  checkTemplate,
  templatePaths,
  words: WORDS,
  routes: ROUTES,
  operations: new Map<string, readonly number[]>([
    ...ROUTES.map(({ operation, statuses }) => [operation, statuses] as const),
    [PROXY_REQUEST, ANY_STATUS],
  ]),
}

/** The same, with connectors allowed to name servers beyond loopback or not (`--allow-outbound`). */
export function documentChecks(allowOutbound: boolean | undefined): DocumentChecks {
  return { ...DOCUMENT_CHECKS, allowOutbound: allowOutbound ?? false }
}
