import type { Instant } from './instant.ts'

/** A magic link as it is stored (2.3, G28). */
export interface MagicLink {
  /** The opaque part of `{base_url}/magic/{opaque}`. */
  id: string
  account_id: string
  /** Ties the third party's redirect back to this link: the OAuth `state` of the authorize request. */
  oauth_state: string
  /** Empty when the caller gave none. */
  user_verify_url: string
  /** The caller's opaque value, passed on as it came; null when there was none. */
  state: string | null
  expires_at: Instant
  /** Set once its flow has completed; from then on it answers 410. */
  completed_at?: Instant
}

/** A consent that waits for `POST /connected_accounts/user/verify` (3.1, G57). */
export interface AuthRequest {
  /** base64url, at least 128 bits (G30). */
  id: string
  account_id: string
  /** The identifier of the link's account, not that of the person who signed in at the third party (G57). */
  identifier: string
  expires_at: Instant
  /**
   * Why it is over: only a pending one can be verified, any other answers 404. `withdrawn`: its account was disconnected,
   * its provider deleted, or the type of its credentials changed.
   */
  outcome: 'pending' | 'consumed' | 'expired' | 'superseded' | 'withdrawn'
}
