/** API credentials, which choose the environment (5.2), and the bearer tokens that they get. */
export type { BearerToken, Client } from './generated/tables.ts'
