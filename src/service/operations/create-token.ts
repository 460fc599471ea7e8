import { instant } from '../../model/domain/instant.ts'
import type { Call, Reply } from './operation.ts'

/** POST /oauth/token (5.1, G13), once the client has been authenticated: a new opaque bearer token. */
export function createToken({ environment, clientId }: Call<'create_token'>): Reply {
  const { model, ids, clock, settings } = environment
  const token = `tmk_${ids.opaque()}`
  const expires_at = instant(clock.now() + settings.bearer_token_lifetime)
  model.transact(() => {
    model.tables.bearer_tokens.put({ id: token, client_id: clientId, expires_at })
  })
  return {
    status: 200,
    body: {
      access_token: token,
      token_type: 'Bearer',
      expires_in: Math.floor(settings.bearer_token_lifetime / 1000),
      scope: '',
    },
    headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' },
  }
}
