import type { Operation } from '../../model/contract/shapes.ts'
import {
  createConnectedAccount,
  deleteConnectedAccount,
  getConnectedAccountAuth,
  getConnectedAccountDetails,
  listConnectedAccounts,
  searchConnectedAccounts,
  updateConnectedAccount,
} from './accounts.ts'
import { listConnections } from './connections.ts'
import { createToken } from './create-token.ts'
import { listAppConnections, listAvailableTools, listProviders, listScopedTools, listTools } from './discovery.ts'
import { createMagicLink } from './magic-links.ts'
import {
  createMcpConfig,
  deleteMcpConfig,
  getMcpConfig,
  listMcpConfigs,
  listMcpConnectedAccounts,
  updateMcpConfig,
} from './mcp-configs.ts'
import {
  deleteMcpInstance,
  ensureMcpInstance,
  getMcpInstance,
  getMcpInstanceAuthState,
  listMcpInstances,
  updateMcpInstance,
} from './mcp-instances.ts'
import { createMcpConfigToken, createMcpConnectionToken } from './mcp-tokens.ts'
import type { Handler } from './operation.ts'
import { createCustomProvider, deleteCustomProvider, updateCustomProvider } from './providers.ts'
import { executeTool } from './tools.ts'
import { verifyUser } from './verify-user.ts'

export type OperationTable = { readonly [Id in Operation]: Handler<Id> }

export const OPERATIONS: OperationTable = {
  create_token: createToken,
  list_connected_accounts: listConnectedAccounts,
  update_connected_account: updateConnectedAccount,
  create_connected_account: createConnectedAccount,
  get_connected_account_auth: getConnectedAccountAuth,
  get_connected_account_details: getConnectedAccountDetails,
  create_magic_link: createMagicLink,
  verify_user: verifyUser,
  delete_connected_account: deleteConnectedAccount,
  search_connected_accounts: searchConnectedAccounts,
  list_connections: listConnections,
  create_custom_provider: createCustomProvider,
  update_custom_provider: updateCustomProvider,
  delete_custom_provider: deleteCustomProvider,
  execute_tool: executeTool,
  list_tools: listTools,
  list_scoped_tools: listScopedTools,
  list_available_tools: listAvailableTools,
  list_providers: listProviders,
  list_app_connections: listAppConnections,
  list_mcp_configs: listMcpConfigs,
  create_mcp_config: createMcpConfig,
  get_mcp_config: getMcpConfig,
  update_mcp_config: updateMcpConfig,
  delete_mcp_config: deleteMcpConfig,
  list_mcp_connected_accounts: listMcpConnectedAccounts,
  create_mcp_config_token: createMcpConfigToken,
  create_mcp_connection_token: createMcpConnectionToken,
  list_mcp_instances: listMcpInstances,
  ensure_mcp_instance: ensureMcpInstance,
  get_mcp_instance: getMcpInstance,
  update_mcp_instance: updateMcpInstance,
  delete_mcp_instance: deleteMcpInstance,
  get_mcp_instance_auth_state: getMcpInstanceAuthState,
}
