/** What the fake third parties have issued, or accepted from a caller. */
export type { AuthorizationCode, Grant } from './generated/tables.ts'
