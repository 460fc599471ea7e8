/**
 * The files that are mutated together, and the tests that must detect the mutants. Every test that reaches a surviving mutant
 * is run against it, so a group with all tests would take a day.
 */
export const GROUPS: readonly {
  readonly name: string
  readonly files: readonly string[]
  readonly tests: readonly string[]
}[] = [
  { name: 'domain', files: ['src/model/domain/*.ts'], tests: ['test/model/domain/*.test.ts'] },
  operation('connections', 'connections'),
  operation('create-token', 'token'),
  operation('verify-user', 'verify'),
  operation('tools', 'execute-tool', 'execute-tool-third-party'),
  operation('providers', 'providers', 'providers-accounts'),
  operation('account-events', 'lifecycle', 'revocation', 'type-change'),
  operation(
    'third-party-calls',
    'accounts-credentials',
    'execute-tool',
    'execute-tool-renewal',
    'execute-tool-third-party',
    'renewal-durability',
    'third-party-calls',
  ),
  operation('discovery', 'discovery'),
  {
    name: 'mcp',
    files: ['src/service/operations/mcp-configs.ts', 'src/service/operations/mcp-tokens.ts'],
    tests: ['test/servers/mcp/configs.test.ts', 'test/servers/mcp/session-tokens.test.ts'],
  },
  operation(
    'accounts',
    'accounts-create',
    'accounts-update',
    'accounts-read',
    'accounts-credentials',
    'accounts-list',
    'type-change',
  ),
  {
    name: 'magic-links',
    files: ['src/service/operations/magic-links.ts'],
    tests: [
      'test/service/operations/magic-links.test.ts',
      'test/service/operations/effects.test.ts',
      'test/journal/verdict/near-misses.test.ts',
    ],
  },
  {
    name: 'near-misses',
    files: ['src/service/operations/near-misses.ts'],
    tests: ['test/journal/verdict/near-misses.test.ts', 'test/service/operations/effects.test.ts'],
  },
  {
    name: 'proxy',
    files: ['src/service/operations/proxy.ts'],
    tests: ['test/servers/http/proxy.test.ts', 'test/service/operations/effects.test.ts'],
  },
  {
    name: 'grants',
    files: [
      'src/service/third-party/tokens.ts',
      'src/service/third-party/consent.ts',
      'src/service/third-party/jwt.ts',
    ],
    tests: ['test/service/third-party/token-endpoint.test.ts', 'test/service/third-party/authorize.test.ts'],
  },
  {
    name: 'scenarios',
    files: [
      'src/scenarios/environment-scenarios.ts',
      'src/scenarios/scenario-run.ts',
      'src/scenarios/rule-matching.ts',
    ],
    tests: ['test/scenarios/engine.test.ts'],
  },
  {
    name: 'journal',
    files: ['journal', 'query', 'near-miss'].map((file) => `src/journal/request-journal/${file}.ts`),
    tests: ['test/journal/request-journal/journal.test.ts', 'test/journal/request-journal/recording.test.ts'],
  },
  {
    name: 'write-ahead-log',
    files: ['write-ahead-log', 'log-file', 'log-lines', 'recovery'].map((file) => `src/state/wal/${file}.ts`),
    tests: ['test/state/wal-writing.test.ts', 'test/state/wal-recovery.test.ts'],
  },
]

function operation(name: string, ...tests: string[]) {
  return {
    name,
    files: [`src/service/operations/${name}.ts`],
    tests: ['effects', ...tests].map((test) => `test/service/operations/${test}.test.ts`),
  }
}
