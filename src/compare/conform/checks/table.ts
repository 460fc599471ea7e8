import type { Check } from '../check.ts'
import { BEARER_CHECKS } from './bearer.ts'
import { CONNECTION_CHECKS } from './connections.ts'
import { CREATE_CHECKS } from './create.ts'
import { DELETE_CHECKS } from './delete.ts'
import { DISCOVERY_CHECKS } from './discovery.ts'
import { ERROR_CHECKS } from './errors.ts'
import { EXECUTE_CHECKS } from './execute.ts'
import { LIST_CHECKS } from './list.ts'
import { CONSENT_CHECKS, LINK_CHECKS } from './magic-link.ts'
import { MCP_CHECKS } from './mcp.ts'
import { MCP_INSTANCE_CHECKS } from './mcp-instances.ts'
import { PROVIDER_CHECKS } from './providers.ts'
import { PROXY_CHECKS } from './proxy.ts'
import { READ_CHECKS } from './read.ts'
import { SEARCH_CHECKS } from './search.ts'
import { SHAPE_CHECKS } from './shape.ts'
import { TIME_CHECKS } from './time.ts'
import { TOKEN_CHECKS } from './token.ts'
import { UPDATE_CHECKS } from './update.ts'
import { VERIFY_CHECKS } from './verify.ts'

/** Every check, in the order in which they run. */
export const CHECKS: readonly Check[] = [
  ...TOKEN_CHECKS,
  ...BEARER_CHECKS,
  ...ERROR_CHECKS,
  ...CREATE_CHECKS,
  ...READ_CHECKS,
  ...LIST_CHECKS,
  ...SEARCH_CHECKS,
  ...UPDATE_CHECKS,
  ...DELETE_CHECKS,
  ...LINK_CHECKS,
  ...CONSENT_CHECKS,
  ...VERIFY_CHECKS,
  ...CONNECTION_CHECKS,
  ...PROVIDER_CHECKS,
  ...EXECUTE_CHECKS,
  ...DISCOVERY_CHECKS,
  ...MCP_CHECKS,
  ...MCP_INSTANCE_CHECKS,
  ...PROXY_CHECKS,
  ...TIME_CHECKS,
  ...SHAPE_CHECKS,
]
