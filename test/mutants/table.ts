import type { Mutant, MutantTable } from './mutant.ts'
import { ACCOUNT_MUTANTS } from './table/accounts.ts'
import { LINK_MUTANTS } from './table/links.ts'
import { LISTING_MUTANTS } from './table/listing.ts'
import { MCP_INSTANCE_MUTANTS } from './table/mcp-instances.ts'
import { MCP_MUTANTS } from './table/mcp.ts'
import { PROVIDER_AND_TOOL_MUTANTS } from './table/providers-and-tools.ts'
import { PROXY_MUTANTS } from './table/proxy.ts'
import { SHAPE_MUTANTS } from './table/shapes.ts'
import { TOKEN_AND_ERROR_MUTANTS } from './table/tokens-and-errors.ts'

const TABLE: MutantTable = {
  ...TOKEN_AND_ERROR_MUTANTS,
  ...ACCOUNT_MUTANTS,
  ...LISTING_MUTANTS,
  ...LINK_MUTANTS,
  ...PROVIDER_AND_TOOL_MUTANTS,
  ...MCP_MUTANTS,
  ...MCP_INSTANCE_MUTANTS,
  ...PROXY_MUTANTS,
  ...SHAPE_MUTANTS,
}

/** Every deliberately broken variant of the mock. */
export const MUTANTS: readonly Mutant[] = Object.entries(TABLE).map(([name, mutate]) => {
  const [caughtBy = '', what = ''] = name.split(/: (.*)/)
  return { name, what, caughtBy, mutate }
})
