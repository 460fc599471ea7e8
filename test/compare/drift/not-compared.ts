/** Mutants that differ in an instant, in the lifetime of an opaque token or in words for people, none of which drift compares. */
export const NOT_COMPARED: ReadonlySet<string> = new Set([
  'time/token-refreshed: get-auth answers an expired token',
  'execute/inactive-words: the refusal for a state does not say that authorization is needed',
  'link/updated-at-stays: a link moves updated_at',
  'mcp/token: a token lives for a day',
  'mcp/instance: an instance that nobody has used was used when it was made',
  'time/status-leaves-updated-at: the expiry of an account moves updated_at',
  'update/updated-at-stays: an update that changes nothing moves updated_at',
  'update/updated-at: updated_at stays that of create',
])
