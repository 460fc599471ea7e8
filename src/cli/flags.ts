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

/** HTTPS (G50); `healthcheck` has to know of it as well. */
export const TLS = [
  {
    name: 'tls',
    kind: { type: 'switch' },
    variable: true,
    help: 'HTTPS with a temporary authority, whose file is printed',
  },
  {
    name: 'tls-cert',
    kind: { type: 'text' },
    placeholder: 'F',
    variable: true,
    help: 'HTTPS with this certificate, a PEM file; needs `--tls-key`',
  },
  {
    name: 'tls-key',
    kind: { type: 'text' },
    placeholder: 'F',
    variable: true,
    help: 'the private key of the certificate',
  },
] as const satisfies readonly Flag[]

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
    name: 'durability',
    kind: { type: 'choice', allowed: ['strict', 'relaxed'] },
    placeholder: 'D',
    default: 'strict',
    variable: true,
    help: 'strict answers once a change is on disk; relaxed answers at once, and what a crash interrupts may be lost',
  },
  {
    name: 'seed',
    kind: { type: 'list' },
    placeholder: 'PATH',
    default: ['bundled'],
    variable: true,
    help: 'a file or a directory in place of the bundled seed; give `bundled` too to add to it',
  },
  {
    name: 'scenario',
    kind: { type: 'list' },
    placeholder: 'NAME_OR_FILE',
    variable: true,
    help: 'runs from the start, in every environment',
  },
  {
    name: 'clock',
    kind: { type: 'instant' },
    placeholder: 'ISO',
    variable: true,
    help: 'where the clock of a new environment starts (at the present by default)',
  },
  { name: 'freeze', kind: { type: 'switch' }, variable: true, help: 'the clock of a new environment stands still' },
  {
    name: 'id-seed',
    kind: { type: 'whole', min: 0, max: 999_999_999 },
    placeholder: 'N',
    variable: true,
    help: 'ids, tokens and generated data of a new environment repeat between runs (random by default)',
  },
  {
    name: 'strict',
    kind: { type: 'switch' },
    variable: true,
    help: 'refuse what is otherwise ignored with a warning; no Discovery operations',
  },
  {
    name: 'watch',
    kind: { type: 'switch' },
    variable: true,
    help: 'reload seeds, connectors and scenarios when their files change',
  },
  {
    name: 'admin-token',
    kind: { type: 'text' },
    placeholder: 'T',
    variable: true,
    help: 'what the control API asks for, as a bearer token',
  },
  {
    name: 'allow-host',
    kind: { type: 'list' },
    placeholder: 'H',
    variable: true,
    help: 'a name at which the control API may be called, beside those that are safe by themselves',
  },
  {
    name: 'allow-outbound',
    kind: { type: 'switch' },
    variable: true,
    help: 'a connector may name a server that is not on loopback',
  },
  ...TLS,
  {
    name: 'journal',
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: true,
    help: 'append every journal entry to it, one line of JSON each',
  },
  {
    name: 'journal-size',
    kind: { type: 'whole', min: 1, max: 10_000_000 },
    placeholder: 'N',
    default: 10_000,
    variable: true,
    help: 'how many entries the journal of an environment keeps',
  },
  {
    name: 'body-limit',
    kind: { type: 'whole', min: 1, max: 999_999_999 },
    placeholder: 'BYTES',
    default: 1_048_576,
    variable: true,
    help: 'largest request body that is taken',
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

export const STATE_FLAGS = [
  {
    name: 'out',
    kind: { type: 'text' },
    placeholder: 'NEW',
    variable: false,
    help: 'where repair writes what it saves; a file that is not there yet',
  },
  ...COMMON_FLAGS,
] as const satisfies readonly Flag[]

const [BY_TLS, CERT, KEY] = TLS

/** Where a running server is: by its address, or by the flags and variables that it was started with. */
export const HEALTHCHECK_FLAGS = [
  {
    name: 'url',
    kind: { type: 'url' },
    placeholder: 'URL',
    variable: true,
    help: 'the server to ask (from host and port by default)',
  },
  { ...PORT, help: 'the port that it serves on' },
  { ...HOST, help: 'the address that it serves on' },
  { ...BY_TLS, help: 'it serves HTTPS' },
  { ...CERT, help: 'the same, by the certificate that it was started with' },
  { ...KEY, help: 'the private key of that; it is not read' },
  ...COMMON_FLAGS,
] as const satisfies readonly Flag[]
