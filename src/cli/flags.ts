import type { Flag } from './flag.ts'
import { LOG_LEVELS } from './log.ts'

/** Where the server listens; `healthcheck` reads the same. */
const PORT = {
  name: 'port',
  kind: { type: 'whole', min: 0, max: 65_535 },
  placeholder: 'N',
  default: 8665,
  variable: true,
  help: 'port to serve on; 0 takes a free one',
} as const satisfies Flag

const HOST = {
  name: 'host',
  kind: { type: 'text' },
  placeholder: 'H',
  default: '127.0.0.1',
  variable: true,
  help: 'address to serve on; 0.0.0.0 for every one',
} as const satisfies Flag

export const COMMON_FLAGS = [
  { name: 'help', short: 'h', kind: { type: 'switch' }, variable: false, help: 'say how to use this and stop' },
  { name: 'version', short: 'v', kind: { type: 'switch' }, variable: false, help: 'print the version and stop' },
] as const satisfies readonly Flag[]

export const START_FLAGS = [
  PORT,
  HOST,
  {
    name: 'base-url',
    kind: { type: 'url' },
    placeholder: 'URL',
    variable: true,
    help: "what links and redirects are built on (from the request's Host by default)",
  },
  {
    name: 'state',
    kind: { type: 'text' },
    placeholder: 'FILE',
    default: '.toolmock/state.json',
    variable: true,
    help: 'the whole model, one JSON file',
  },
  { name: 'in-memory', kind: { type: 'switch' }, variable: true, help: 'no file at all' },
  { name: 'fresh', kind: { type: 'switch' }, variable: true, help: 'ignore and replace an existing state' },
  {
    name: 'seed',
    kind: { type: 'list' },
    placeholder: 'PATH',
    default: ['bundled'],
    variable: true,
    help: 'a file or a directory in place of the bundled seed; give `bundled` too to add to it',
  },
  {
    name: 'strict',
    kind: { type: 'switch' },
    variable: true,
    help: 'refuse what is otherwise ignored with a warning; no Discovery operations',
  },
  {
    name: 'log-level',
    kind: { type: 'choice', allowed: LOG_LEVELS },
    placeholder: 'L',
    default: 'info',
    variable: true,
    help: LOG_LEVELS.join(', '),
  },
  { name: 'json', kind: { type: 'switch' }, variable: true, help: 'the ready line and log lines are JSON' },
  ...COMMON_FLAGS,
] as const satisfies readonly Flag[]

export const HEALTHCHECK_FLAGS = [
  {
    name: 'url',
    kind: { type: 'url' },
    placeholder: 'URL',
    variable: true,
    help: 'the server to ask (from host and port by default)',
  },
  PORT,
  HOST,
  ...COMMON_FLAGS,
] as const satisfies readonly Flag[]
