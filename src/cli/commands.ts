import { COMMON_FLAGS, HEALTHCHECK_FLAGS, START_FLAGS, STATE_FLAGS } from './flags.ts'
import type { Command } from './command.ts'
import { CONFORM_FLAGS } from './conform-flags.ts'
import { REPORT_FLAGS } from './report-flags.ts'
import { RUN_FLAGS } from './run-flags.ts'

/** Every command, in the order of the help text; the first is the one that runs when none is named. */
export const COMMANDS: readonly [Command, ...Command[]] = [
  {
    name: 'start',
    operands: '',
    summary: 'serve until SIGINT or SIGTERM, then write the state and stop (what runs when no command is named)',
    flags: START_FLAGS,
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'run',
    operands: ' -- CMD ARG…',
    summary:
      "serve on a free port while CMD runs, with the connection variables set; then a verdict on the contract: exit with CMD's own code, or 3 when CMD passed and the verdict failed",
    flags: RUN_FLAGS,
    wraps: true,
    load: async () => (await import('./run.ts')).run,
  },
  {
    name: 'validate',
    operands: ' FILE…',
    summary:
      'check seed, connector and scenario files; exit 1 when there is something to mend, 2 when one cannot be read',
    flags: COMMON_FLAGS,
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'init',
    operands: ' [DIR]',
    summary: 'write a commented starter seed, connector and scenario into DIR (toolmock by default)',
    flags: COMMON_FLAGS,
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'state',
    operands: ' ACTION FILE',
    summary:
      '`check` says what a start would say to a state file, and touches nothing (exit 1 when it would be refused, 2 when there is nothing to check); `repair` saves what can be saved of it into the file that --out names',
    flags: STATE_FLAGS,
    load: async () => (await import('./state.ts')).state,
  },
  {
    name: 'conform',
    operands: '',
    summary:
      'hold an implementation of the service against its contract, by accounts of its own that it removes again; exit 1 when something is broken, 2 when it cannot be asked',
    flags: CONFORM_FLAGS,
    load: async () => (await import('./conform.ts')).conform,
  },
  {
    name: 'report',
    operands: ' [contract|coverage]',
    summary:
      'fetch a report of a running server: what clients did wrong (contract, by default) or what of the contract was exercised (coverage); exit 2 when it cannot be had',
    flags: REPORT_FLAGS,
    load: async () => (await import('./report.ts')).report,
  },
  {
    name: 'healthcheck',
    operands: '',
    summary: 'exit 0 when a server answers, else 1',
    flags: HEALTHCHECK_FLAGS,
    load: async () => (await import('./healthcheck.ts')).healthcheck,
  },
]
