import type { DocumentChecks } from './documents/connector-checks.ts'

/** Lets the documents room check templates without knowing the room that renders them, which is loaded when one is met. */
export const DOCUMENT_CHECKS: DocumentChecks = {
  templates: async () => (await import('./third-party/template-syntax.ts')).checkTemplate,
}
