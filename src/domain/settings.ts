import type { VocabularyWords } from './vocabulary.ts'

/** What a seed's `settings` can change, per environment. Durations are milliseconds. */
export interface Settings {
  /** Lifetime of bearer tokens (G13). */
  bearer_token_lifetime: number
  /** Lifetime of magic links (G28). */
  magic_link_lifetime: number
  /** Lifetime of auth requests (G32). */
  auth_request_lifetime: number
  /** Links without `user_verify_url` end in an error page instead of `ACTIVE`. */
  require_user_verification: boolean
  /** `ask` shows the consent page; the others decide every link at once (G31). */
  consent: 'ask' | 'approve' | 'deny'
  /**
   * What storing the credentials of a deleted or disconnected account again does: they count as newly issued, or, with
   * `final`, the third party refuses them permanently, for every account ("States").
   */
  revocation?: 'reversible' | 'final'
  /** What verify answers (G33); empty for `{base_url}/connect/success`. */
  post_user_verify_redirect_url: string
  /** What the wire says in place of words of the document (G48). */
  vocabulary: VocabularyWords
}

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
