import type { DocumentChecks } from '../documents/connector-checks.ts'

/** Gives `documents` the checks of modules that it must not import. Each is loaded when a document needs it. */
export const DOCUMENT_CHECKS: DocumentChecks = {
  templates: async () => (await import('../third-party/template.ts')).checkTemplate,
  words: async () => (await import('../contract/generated/word-tables.ts')).WORDS,
  operations: async () => {
    const { ROUTES } = await import('../contract/route.ts')
    return new Map(ROUTES.map(({ operation, statuses }) => [operation, statuses]))
  },
}

/** The same, with connectors allowed to name servers beyond loopback or not (`--allow-outbound`). */
export function documentChecks(allowOutbound: boolean | undefined): DocumentChecks {
  return { ...DOCUMENT_CHECKS, allowOutbound: allowOutbound ?? false }
}
