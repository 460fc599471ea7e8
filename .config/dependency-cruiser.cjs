/**
 * The modules of src/ below app, cli and library, and what each may import beside itself. A module that is not in this table is
 * an error. No two modules import each other.
 */
const MODULES = {
  domain: [],
  schema: ['domain'],
  ui: ['domain', 'contract'],
  disk: [],
  pages: ['domain'],
  state: ['domain', 'disk', 'schema'],
  documents: ['domain', 'schema', 'scenarios'],
  tls: ['domain', 'disk'],
  conform: ['domain', 'contract'],
  drift: ['domain', 'contract', 'conform', 'verdict'],
  record: ['domain', 'contract', 'conform', 'documents', 'drift'],
  contract: ['domain'],
  'request-journal': ['domain', 'disk', 'state', 'contract'],
  verdict: ['domain', 'state', 'contract', 'request-journal', 'scenarios', 'pages'],
  operations: ['domain', 'state', 'contract'],
  scenarios: ['domain', 'state', 'schema', 'contract'],
  http: ['domain', 'state', 'contract', 'request-journal', 'operations', 'scenarios'],
  rpc: ['domain', 'contract', 'http', 'request-journal'],
  mcp: ['domain', 'state', 'contract', 'http', 'request-journal', 'operations', 'verdict'],
  webhooks: ['domain', 'state', 'request-journal', 'scenarios'],
  'third-party': ['domain', 'state', 'request-journal', 'pages', 'scenarios'],
  'magic-links': ['domain', 'state', 'request-journal', 'pages', 'operations', 'third-party', 'http'],
  control: [
    'domain',
    'state',
    'documents',
    'schema',
    'contract',
    'pages',
    'http',
    'third-party',
    'operations',
    'magic-links',
    'mcp',
    'request-journal',
    'scenarios',
    'verdict',
    'webhooks',
  ],
  replicas: ['domain', 'state', 'http', 'control'],
}
const EVERY_MODULE = Object.keys(MODULES)

/** The HTTP client of everything that calls a server. Any module may import it. */
const HTTP_CLIENT = '^src/http-client\\.ts$'

/** What differs between operating systems. Any module may import it. */
const PLATFORM = '^src/platform\\.ts$'

/** Regular expressions of users, in linear time. Any module may import it. */
const LINEAR_PATTERN = '^src/linear-pattern\\.ts$'

/** Charsets and content codings of bodies. Any module may import it. */
const BODY_TEXT = '^src/body-text\\.ts$'

/** Lines on a terminal: their width, how they wrap, colours. Any module may import it. */
const TERMINAL = '^src/terminal\\.ts$'

/** What starts a server. Only the command line and the library import it. */
const APP = '^src/(app/|version\\.ts$)'

/** The layers of the state, each with those it may import; the files beside them in `src/state` may import all. */
const STATE_LAYERS = [['model'], ['wal', 'model'], ['state-file', 'wal', 'model']]

/** Where a package may be imported: each one costs start time and is hard to replace. */
const PACKAGES = {
  express: '^src/(http|control|pages|magic-links|third-party|request-journal)/',
  lowdb: '^src/state/state-file/state-file\\.ts$',
  '@stoplight/prism-http': '^src/contract/prism-validator\\.ts$',
  '@faker-js/faker': '^src/(third-party/|state/seeding\\.ts$)',
  yaml: '^src/(documents|contract)/',
  'jsonc-parser': '^src/(documents/source-text|state/state-file/json-position)\\.ts$',
  zod: '^src/((documents|schema)/|drift/har\\.ts$|control/input\\.ts$|mcp/control-tools\\.ts$|cli/(cases|configuration|drift)\\.ts$|state/state-file/validation\\.ts$)',
  ajv: '^src/(contract|documents)/',
  re2js: '^src/linear-pattern\\.ts$',
  '@peculiar': '^src/tls/certificate\\.ts$',
  '@handlebars/parser': '^src/(third-party|documents)/',
  '@bufbuild': '^src/rpc/',
  '@connectrpc': '^src/rpc/',
  '@modelcontextprotocol': '^src/mcp/',
  pg: '^src/replicas/database\\.ts$',
  'pg-connection-string': '^src/replicas/database\\.ts$',
  undici: '^src/replicas/forwarder\\.ts$',
  vitest: '^src/runners/vitest\\.ts$',
  '@lezer': '^src/ui/highlight\\.ts$',
  preact: '^src/ui/',
  '@preact': '^src/ui/',
}

const moduleRule = (name, to) => ({
  name: `module-${name}`,
  comment: `src/${name} may import ${to.join(', ') || 'only itself'}`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: {
    path: '^src/',
    pathNot: [
      ...[name, ...to].map((allowed) => `^src/${allowed}/`),
      HTTP_CLIENT,
      LINEAR_PATTERN,
      BODY_TEXT,
      PLATFORM,
      TERMINAL,
    ],
  },
})

module.exports = {
  forbidden: [
    ...Object.entries(MODULES).map(([name, to]) => moduleRule(name, to)),
    {
      name: 'app-under-cli-and-library',
      comment: 'app wires the modules and imports neither the command line nor the library',
      severity: 'error',
      from: { path: '^src/app/' },
      to: { path: '^src/(cli/|library/|runners/|index\\.ts$)' },
    },
    {
      name: 'app-on-top',
      comment: 'a module below app does not import app, which wires it',
      severity: 'error',
      from: { path: EVERY_MODULE.map((name) => `^src/${name}/`) },
      to: { path: '^src/app/' },
    },
    {
      name: 'cli-over-app',
      comment:
        'the command line imports the app, the modules whose work needs no server, and the client of the control API that the library has',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(cli|conform|disk|drift|documents|domain|mcp|record|replicas|request-journal|rpc|schema|state|verdict)/',
          '^src/library/(control-client|toolmock-error|types)\\.ts$',
          '^src/contract/generated/rules\\.',
          APP,
          HTTP_CLIENT,
          PLATFORM,
          TERMINAL,
        ],
      },
    },
    {
      name: 'library-over-app',
      comment:
        'the library starts a server, calls its control API, reads scenario files and computes verdicts; its types come from the OpenAPI documents',
      severity: 'error',
      from: { path: '^src/(library/|index\\.ts$)' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(library|domain|verdict)/',
          '^src/contract/(shapes|control-call|generated/control-types)\\.ts$',
          '^src/documents/(text-files|source-text)\\.ts$',
          '^src/index\\.ts$',
          APP,
          HTTP_CLIENT,
        ],
      },
    },
    {
      name: 'runners-over-library',
      comment: 'the adapters of test runners use the library',
      severity: 'error',
      from: { path: '^src/runners/' },
      to: { path: '^src/', pathNot: '^src/(runners/|library/|index\\.ts$)' },
    },
    {
      name: 'known-modules',
      comment: 'a new module gets a line in MODULES above and in AGENTS.md',
      severity: 'error',
      from: {
        path: '^src/[^/]+/',
        pathNot: [...EVERY_MODULE, 'app', 'cli', 'library', 'runners'].map((name) => `^src/${name}/`),
      },
      to: {},
    },
    {
      name: 'domain-is-pure',
      comment: 'the domain imports only itself and node:crypto',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypesNot: ['local', 'type-only'], pathNot: ['^src/domain/', '^(node:)?crypto$'] },
    },
    ...STATE_LAYERS.map(([layer, ...below]) => ({
      name: `state-layer-${layer}`,
      comment: `in src/state, ${layer} imports ${below.join(' and ') || 'only itself'}`,
      severity: 'error',
      from: { path: `^src/state/${layer}/` },
      to: { path: '^src/state/', pathNot: [layer, ...below].map((name) => `^src/state/${name}/`) },
    })),
    ...Object.entries(PACKAGES).map(([name, where]) => ({
      name: `package-${name}`,
      comment: `${name} is imported in ${where} only`,
      severity: 'error',
      from: { path: '^src/', pathNot: [where, '/generated/'] },
      to: { path: `node_modules/(@types/)?${name}/` },
    })),
    {
      name: 'no-cycles',
      severity: 'error',
      from: { pathNot: '^src/ui/generated/' },
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'a file that nothing imports and that imports nothing is dead',
      severity: 'error',
      from: { orphan: true, pathNot: ['\\.d\\.ts$', '/generated/'] },
      to: {},
    },
    {
      name: 'no-unresolvable',
      comment: "sarif is a package of types alone; Jest and Playwright are the project's that imports their adapter",
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(sarif|@jest/globals|@playwright/test)$' },
    },
    {
      name: 'source-never-imports-tests',
      severity: 'error',
      from: {},
      to: { path: '^(test|bench|\\.build|\\.config)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
    },
  },
}
