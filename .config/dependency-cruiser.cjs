/**
 * The rooms of src/ and what each may import beside itself. A room that is not in this table may not exist, and a room
 * never imports one that imports it.
 */
const ROOMS = {
  domain: [],
  disk: [],
  web: ['domain'],
  store: ['domain', 'disk'],
  documents: ['domain'],
  tls: ['domain', 'disk'],
  watch: ['domain', 'documents'],
  conform: ['domain'],
  contract: ['domain'],
  'third-party': ['domain', 'store', 'web'],
  journal: ['domain', 'store', 'contract'],
  environments: ['domain', 'store'],
  verdict: ['domain', 'documents', 'contract', 'journal', 'scenarios', 'web'],
  operations: ['domain', 'store', 'contract'],
  connect: ['domain', 'store', 'web', 'operations'],
  scenarios: ['domain', 'store', 'documents', 'contract'],
  http: [
    'domain',
    'store',
    'documents',
    'contract',
    'web',
    'third-party',
    'journal',
    'operations',
    'connect',
    'scenarios',
    'verdict',
  ],
  control: [
    'domain',
    'store',
    'documents',
    'contract',
    'web',
    'third-party',
    'environments',
    'operations',
    'connect',
    'journal',
    'scenarios',
    'verdict',
  ],
}
const EVERY_ROOM = Object.keys(ROOMS)

/** The files beside the rooms that join them, and the version, which is known to whoever shows it. */
const JOINTS =
  '^src/(simulator|simulator-options|doors-joint|control-joint|scenario-joint|reload-joint|state-joint|conform-joint|verdict-joint|judgement-joint|document-checks|version)\\.ts$'

/** The floors of the store, each with those it may know; what lies beside them in `src/store` may know all. */
const STORE_FLOORS = [['model'], ['journal', 'model'], ['state-file', 'journal', 'model']]

/** Where a package, which costs start time or ties us to it, may be imported. */
const PACKAGES = {
  express: '^src/(http|control|web|connect|third-party)/',
  lowdb: '^src/state/state-file/state-file\\.ts$',
  '@stoplight/prism-http': '^src/contract/prism-judge\\.ts$',
  '@faker-js/faker': '^src/(third-party/|store/seeding/)',
  yaml: '^src/(documents|contract)/',
  zod: '^src/documents/',
  ajv: '^src/(contract|documents)/',
  '@peculiar': '^src/tls/certificate\\.ts$',
  '@handlebars/parser': '^src/(third-party|documents)/',
  vitest: '^src/vitest\\.ts$',
}

const room = (name, to) => ({
  name: `room-${name}`,
  comment: `src/${name} may import ${to.join(', ') || 'nothing but itself'}`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: { path: '^src/', pathNot: [name, ...to].map((allowed) => `^src/${allowed}/`) },
})

module.exports = {
  forbidden: [
    ...Object.entries(ROOMS).map(([name, to]) => room(name, to)),
    {
      name: 'simulator-is-the-joint',
      comment: 'simulator.ts puts the rooms together and knows neither the command line nor the library around it',
      severity: 'error',
      from: { path: '^src/simulator\\.ts$' },
      to: { path: '^src/(cli/|library/|index\\.ts$|vitest\\.ts$)' },
    },
    {
      name: 'cli-over-simulator',
      comment:
        'the command line knows the simulator, the documents it checks, the disk and the domain; never the rooms inside',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/', pathNot: ['^src/(cli|documents|domain|disk)/', JOINTS] },
    },
    {
      name: 'library-over-simulator',
      comment: 'the library starts a simulator and speaks to its control API; it never knows the rooms inside',
      severity: 'error',
      from: { path: '^src/(library/|index\\.ts$|vitest\\.ts$)' },
      to: { path: '^src/', pathNot: ['^src/library/', '^src/index\\.ts$', JOINTS] },
    },
    {
      name: 'known-rooms',
      comment: 'a new room gets a line in ROOMS above and in AGENTS.md',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: [...EVERY_ROOM, 'cli', 'library'].map((name) => `^src/${name}/`) },
      to: {},
    },
    {
      name: 'domain-is-pure',
      comment: 'the domain uses the language and node:crypto',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypesNot: ['local', 'type-only'], pathNot: ['^src/domain/', '^(node:)?crypto$'] },
    },
    ...STORE_FLOORS.map(([floor, ...below]) => ({
      name: `store-floor-${floor}`,
      comment: `in the store, ${floor} knows ${below.join(' and ') || 'nothing beside itself'}`,
      severity: 'error',
      from: { path: `^src/state/${floor}/` },
      to: { path: '^src/state/', pathNot: [floor, ...below].map((name) => `^src/state/${name}/`) },
    })),
    ...Object.entries(PACKAGES).map(([name, where]) => ({
      name: `package-${name}`,
      comment: `${name} is imported in ${where} only`,
      severity: 'error',
      from: { path: '^src/', pathNot: [where, '^src/contract/generated/'] },
      to: { path: `node_modules/(@types/)?${name}/` },
    })),
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      comment: 'a file that nothing imports and that imports nothing is dead',
      severity: 'error',
      from: { orphan: true, pathNot: ['\\.d\\.ts$', '^src/contract/generated/'] },
      to: {},
    },
    {
      name: 'no-unresolvable',
      comment: 'sarif is the name of types alone',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^sarif$' },
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
      extensions: ['.ts', '.js', '.json'],
    },
  },
}
