const AREAS = require('./areas.cjs')

/** What the package exports; the adapters of test runners are its users. */
const INDEX = '^src/index\\.ts$'

/** Folders of an area, each with the folders of that area that it may import; files beside them may import all. */
const LAYERS = {
  state: [['model'], ['wal', 'model'], ['state-file', 'wal', 'model']],
}

/** Where a package may be imported: each one costs start time and is hard to replace. */
const PACKAGES = {
  express: '^src/(servers/(http|control|magic-links)|ui/pages|service/third-party|journal/request-journal)/',
  lowdb: '^src/state/state-file/state-file\\.ts$',
  '@stoplight/prism-http': '^src/model/contract/prism-validator\\.ts$',
  '@faker-js/faker': '^src/(service/third-party/|state/seeding\\.ts$)',
  yaml: '^src/(files|model/contract)/',
  'jsonc-parser': '^src/(files/source-text|state/state-file/json-position)\\.ts$',
  zod: '^src/(files/|model/schema/|compare/drift/har\\.ts$|servers/control/input\\.ts$|servers/mcp/control-tools\\.ts$|app/cli/(cases|configuration|drift)\\.ts$|state/state-file/validation\\.ts$)',
  ajv: '^src/(model/contract|files)/',
  re2js: '^src/model/linear-pattern\\.ts$',
  '@peculiar': '^src/servers/tls/certificate\\.ts$',
  '@handlebars/parser': '^src/(service/third-party|files)/',
  '@bufbuild': '^src/servers/rpc/',
  '@connectrpc': '^src/servers/rpc/',
  '@modelcontextprotocol': '^src/servers/mcp/',
  pg: '^src/servers/replicas/database\\.ts$',
  'pg-connection-string': '^src/servers/replicas/database\\.ts$',
  undici: '^src/servers/replicas/forwarder\\.ts$',
  vitest: '^src/app/runners/vitest\\.ts$',
  preact: '^src/ui/dashboard/',
  '@preact': '^src/ui/dashboard/',
}

const areaRule = ([name, { imports }]) => ({
  name: `area-${name}`,
  comment: `src/${name} may import ${imports.join(', ') || 'only itself'}`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: {
    path: '^src/',
    pathNot: [...[name, ...imports].map((area) => `^src/${area}/`), ...(name === 'app' ? [INDEX] : [])],
  },
})

module.exports = {
  forbidden: [
    ...Object.entries(AREAS).map(areaRule),
    {
      name: 'known-areas',
      comment: 'a new area gets a line in AREAS above',
      severity: 'error',
      from: { path: '^src/', pathNot: [...Object.keys(AREAS).map((name) => `^src/${name}/`), INDEX] },
      to: {},
    },
    {
      name: 'app-under-its-users',
      comment:
        'what starts a server imports neither the command line nor the library, the library of the command line only what reads a configuration file',
      severity: 'error',
      from: { path: '^src/app/([^/]+\\.ts$|library/)' },
      to: { path: '^src/app/(cli|runners)/', pathNot: '^src/app/cli/configured-mock\\.ts$' },
    },
    {
      name: 'domain-is-pure',
      comment: 'the domain imports only itself and node:crypto',
      severity: 'error',
      from: { path: '^src/model/domain/' },
      to: { dependencyTypesNot: ['local', 'type-only'], pathNot: ['^src/model/domain/', '^(node:)?crypto$'] },
    },
    ...Object.entries(LAYERS).flatMap(([area, layers]) =>
      layers.map(([layer, ...below]) => ({
        name: `${area}-${layer}`,
        comment: `in src/${area}, ${layer} imports ${below.join(' and ') || 'only itself'}`,
        severity: 'error',
        from: { path: `^src/${area}/${layer}/` },
        to: { path: `^src/${area}/`, pathNot: [layer, ...below].map((name) => `^src/${area}/${name}/`) },
      })),
    ),
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
      from: { pathNot: '^src/ui/dashboard/generated/' },
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
