/** Mutants that differ in an instant, in the lifetime of an opaque token or in words for people, none of which drift compares. */
export const NOT_COMPARED: ReadonlySet<string> = new Set([
  'auth-does-not-refresh',
  'execute-inactive-without-words',
  'link-moves-updated-at',
  'mcp-token-a-day',
  'status-moves-updated-at',
  'update-always-moves-time',
  'update-stops-time',
])
