import type { Command } from './command.ts'

/** Every command, in the order of the help text; the first is the one that runs when none is named. */
export const COMMANDS: readonly [Command, ...Command[]] = [
  {
    name: 'start',
    summary: 'serve until SIGINT or SIGTERM, then write the state and stop (what runs when no command is named)',
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'stop',
    summary: 'stop the server that `start --detach` started in this folder, and wait until its state is written',
    load: async () => (await import('./detached.ts')).stop,
  },
  {
    name: 'env',
    summary: 'print the connection variables of a running server',
    load: async () => (await import('./env.ts')).env,
  },
  {
    name: 'run',
    operands: ' -- CMD ARG…',
    summary:
      "serve on a free port while CMD runs, with the connection variables set, then judge whether the contract was kept; exit with CMD's own code, or 3 when CMD passed and the verdict failed; --cases runs CMD once for each case of a file",
    wraps: true,
    load: async () => (await import('./run.ts')).run,
  },
  {
    name: 'validate',
    operands: ' FILE…',
    summary:
      'check seeds (also `bundled`), connectors, scenarios, extensions, cases and configurations, files or folders, as `start` does; exit 1 when one has a problem, 2 when one cannot be read',
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'init',
    operands: ' [DIR]',
    summary: 'write a commented starter seed, connector and scenario into DIR (toolmock by default)',
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'config',
    summary:
      'print the settings that a start here would use, and whether each comes from a variable, from the configuration file or is the default',
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'connector',
    operands: ' from-openapi FILE',
    summary:
      'write a connector from an OpenAPI document: a tool for each operation, collections where paths form a resource; stderr lists the parts of the document that the connector leaves out',
    load: async () => (await import('./connector.ts')).connector,
  },
  {
    name: 'state',
    operands: ' ACTION FILE',
    summary:
      '`check` says whether a start would accept a state file (exit 1 when not, 2 without a file); `repair` saves what it can into the file of --out; `export` and `import` copy a state out of and into a PostgreSQL database',
    load: async () => (await import('./state.ts')).state,
  },
  {
    name: 'conform',
    summary:
      'check an implementation of the service against its contract, with accounts that it creates and removes again; exit 1 when a check fails, 2 when the implementation cannot be reached',
    load: async () => (await import('./conform.ts')).conform,
  },
  {
    name: 'drift',
    summary:
      'compare a service with a mock that gets the same requests, and say which choices of the mock do not fit; exit 1 when one differs, 2 when the service cannot be asked, 3 when something could not be removed there',
    load: async () => (await import('./drift.ts')).drift,
  },
  {
    name: 'record',
    summary:
      'a proxy in front of the service; Ctrl-C writes what came through, without secrets, as a seed, connectors and a scenario that replay it, with a HAR file and what the mock would have answered otherwise',
    load: async () => (await import('./record.ts')).record,
  },
  {
    name: 'report',
    operands: ' [contract|coverage|merge FILE…]',
    summary:
      'fetch what clients of a running server did wrong (contract, by default) or exercised (coverage); merge makes one verdict of the JSON reports of several runs; exit 2 without a report, 3 when a merged verdict fails',
    load: async () => (await import('./report.ts')).report,
  },
  {
    name: 'logs',
    summary: 'show the latest requests of a running server, a line each as `start` prints them',
    load: async () => (await import('./logs.ts')).logs,
  },
  {
    name: 'explain',
    operands: ' ID_OR_RULE',
    summary:
      'say why a request was answered as it was, by its `X-Request-Id`; or what a rule such as `G21` or `document:4.7` says, which needs no server',
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'links',
    operands: ' [open|approve|deny [LINK]]',
    summary:
      'list the magic links that can be followed; open one in a browser, or approve or deny its consent without one; LINK may be left out while there is only one',
    load: async () => (await import('./control-commands.ts')).links,
  },
  {
    name: 'accounts',
    operands: ' [EVENT ACCOUNT]',
    summary:
      'list the connected accounts, or apply an event to one: expire, disconnect, revoke_refresh_token or expire_access_token; ACCOUNT is an id, or an identifier that only one account has',
    load: async () => (await import('./control-commands.ts')).accounts,
  },
  {
    name: 'clock',
    operands: ' [advance DURATION|set INSTANT|freeze|run]',
    summary: 'show the clock of an environment, or move, stop or run it',
    load: async () => (await import('./control-commands.ts')).clock,
  },
  {
    name: 'scenario',
    operands: ' [list|start|stop|from] [NAME]',
    summary:
      'list the scenarios with how often each rule fired, or start or stop one; from takes the file of --journal or the id of a request, and writes a scenario and a seed that reproduce it',
    load: async () => (await import('./control-commands.ts')).scenario,
  },
  {
    name: 'snapshot',
    operands: ' [list|save|restore|delete] [NAME]',
    summary: 'list, save, restore or delete snapshots of the model',
    load: async () => (await import('./control-commands.ts')).snapshot,
  },
  {
    name: 'reset',
    summary:
      'take an environment back to its seed, or to another one with --seed; clients, bearer tokens and snapshots stay',
    load: async () => (await import('./control-commands.ts')).reset,
  },
  {
    name: 'webhooks',
    operands: ' [list|send|resend] [TYPE [ACCOUNT]|EVENT]',
    summary:
      'list where events of accounts are sent, with what waits; send an event that has not come about, of the newest account unless ACCOUNT is given; or send one again by its id',
    load: async () => (await import('./control-commands.ts')).webhooks,
  },
  {
    name: 'mcp',
    summary:
      'serve an MCP client, such as a coding agent, on stdin and stdout: tools to see why requests failed and to change accounts, clock and scenarios of a running server; without --url, --port and --host it starts a server of its own',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  {
    name: 'descriptors',
    operands: ' PACKAGE_FOLDER…',
    summary:
      'collect the protobuf descriptors out of the packages of a generated client, JavaScript or Python, without running any of it; exit 1 when some are missing',
    load: async () => (await import('./descriptors.ts')).descriptors,
  },
  {
    name: 'healthcheck',
    summary: 'exit 0 when a server answers, else 1',
    load: async () => (await import('./healthcheck.ts')).healthcheck,
  },
  {
    name: 'completion',
    operands: ' bash|zsh',
    summary: 'print the completion of commands and flags for a shell: `source <(npx toolmock completion bash)`',
    load: async () => {
      const { completion } = await import('./completion.ts')
      return (argv, context) => Promise.resolve(completion(argv, context, COMMANDS))
    },
  },
]
