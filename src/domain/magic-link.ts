/** A magic link (2.3, G28), and a consent that waits for `POST /connected_accounts/user/verify` (3.1, G57). */
export type { AuthRequest, MagicLink } from './generated/tables.ts'
