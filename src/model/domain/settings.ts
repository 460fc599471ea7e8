import type { Settings } from './generated/tables.ts'

export type { Settings }

export const DEFAULT_SETTINGS: Settings = {
  bearer_token_lifetime: 86_399_000,
  magic_link_lifetime: 15 * 60_000,
  auth_request_lifetime: 10 * 60_000,
  require_user_verification: false,
  consent: 'ask',
  revocation: 'reversible',
  post_user_verify_redirect_url: '',
  vocabulary: {},
}
