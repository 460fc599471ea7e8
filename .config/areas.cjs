/**
 * The areas of src/, each with what is in it and the areas that it may import beside itself. `app/`, which wires them, may import
 * all; no two areas import each other. AGENTS.md shows this table. A folder that is not in it is an error.
 */
module.exports = {
  model: {
    has: 'what there is, and the rules of the document; pure',
    imports: [],
  },
  platform: { has: 'operating system, disk, HTTP client', imports: ['model'] },
  state: { has: 'environments: tables, clock, log, state file', imports: ['model', 'platform'] },
  scenarios: { has: 'rules and their faults', imports: ['model', 'platform', 'state'] },
  ui: { has: 'what a browser shows: dashboard, pages', imports: ['model'] },
  journal: {
    has: 'what happened, and was it right',
    imports: ['model', 'platform', 'state', 'scenarios', 'ui'],
  },
  files: { has: 'seed, connector, scenario, extension files', imports: ['model', 'scenarios'] },
  service: {
    has: 'operations, third parties, webhooks',
    imports: ['model', 'platform', 'state', 'scenarios', 'ui', 'journal'],
  },
  servers: {
    has: 'the ways in: HTTP, gRPC, MCP, control API, replicas',
    imports: ['model', 'platform', 'state', 'scenarios', 'ui', 'journal', 'files', 'service'],
  },
  compare: {
    has: 'other implementations: conformance, drift, recordings',
    imports: ['model', 'platform', 'journal', 'files'],
  },
  app: {
    has: 'wiring, library, test runners, command line',
    imports: ['model', 'platform', 'state', 'scenarios', 'ui', 'journal', 'files', 'service', 'servers', 'compare'],
  },
}
