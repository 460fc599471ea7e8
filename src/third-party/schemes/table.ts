import type { AuthorizationType } from '../../domain/authorization-type.ts'
import { bearer } from './bearer.ts'
import { none } from './none.ts'
import { oauth1 } from './oauth1.ts'
import type { Scheme } from './scheme.ts'
import { signed } from './signed.ts'
import { staticCredential } from './static.ts'

/** How calls prove who they are, by the connector's authorization type. */
export const SCHEMES: Readonly<Record<AuthorizationType, Scheme>> = {
  OAUTH: bearer,
  API_KEY: staticCredential,
  BASIC_AUTH: staticCredential,
  BEARER_TOKEN: staticCredential,
  CUSTOM: staticCredential,
  BASIC: staticCredential,
  OAUTH_M2M: bearer,
  TRACKER_OAUTH1: oauth1,
  WORKSPACE_DWD: bearer,
  TRUSTED_IDP: signed,
  SMART_FHIR: bearer,
  NO_AUTH: none,
}
