import type { CommandName } from './command-table.ts'
import type { Run } from './command.ts'

/** The code of each command, which is loaded when it is called. */
export const LOAD: { readonly [Name in CommandName]: () => Promise<Run<Name>> } = {
  start: async () => (await import('./start.ts')).start,
  stop: async () => (await import('./detached.ts')).stop,
  env: async () => (await import('./env.ts')).env,
  run: async () => (await import('./run.ts')).run,
  validate: async () => (await import('./validate.ts')).validate,
  init: async () => (await import('./init.ts')).init,
  config: async () => (await import('./config.ts')).config,
  connector: async () => (await import('./connector.ts')).connectorCommand,
  state: async () => (await import('./state.ts')).state,
  conform: async () => (await import('./conform.ts')).conformCommand,
  drift: async () => (await import('./drift.ts')).driftCommand,
  record: async () => (await import('./record.ts')).record,
  report: async () => (await import('./report.ts')).report,
  logs: async () => (await import('./logs.ts')).logs,
  explain: async () => (await import('./explain.ts')).explainCommand,
  links: async () => (await import('./control-commands.ts')).links,
  accounts: async () => (await import('./control-commands.ts')).accounts,
  clock: async () => (await import('./control-commands.ts')).clock,
  scenario: async () => (await import('./control-commands.ts')).scenario,
  snapshot: async () => (await import('./control-commands.ts')).snapshotCommand,
  reset: async () => (await import('./control-commands.ts')).reset,
  webhooks: async () => (await import('./control-commands.ts')).webhooks,
  mcp: async () => (await import('./mcp.ts')).mcp,
  descriptors: async () => (await import('./descriptors.ts')).descriptors,
  healthcheck: async () => (await import('./healthcheck.ts')).healthcheck,
}
