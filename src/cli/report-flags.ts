import type { Flag } from './flag.ts'
import { HEALTHCHECK_FLAGS } from './flags.ts'

export const REPORT_FLAGS = [
  {
    name: 'format',
    kind: { type: 'choice', allowed: ['json', 'junit', 'sarif', 'html'] },
    placeholder: 'F',
    default: 'json',
    variable: false,
    help: 'json, junit (XML), sarif or html; junit, sarif and html tell of the coverage too',
  },
  {
    name: 'output',
    short: 'o',
    kind: { type: 'text' },
    placeholder: 'FILE',
    variable: false,
    help: 'where to write it (to stdout by default)',
  },
  {
    name: 'environment',
    kind: { type: 'text' },
    placeholder: 'NAME',
    variable: false,
    help: 'of this environment alone, also when it is gone (of all by default)',
  },
  {
    name: 'fail',
    kind: { type: 'switch' },
    variable: false,
    help: 'exit 1 when the contract was broken, once the report is written',
  },
  {
    name: 'judge',
    kind: { type: 'choice', allowed: ['prism'] },
    placeholder: 'J',
    variable: false,
    help: 'prism adds what Prism says otherwise of the requests that the journal keeps (second_opinion of the json of contract)',
  },
  {
    name: 'admin-token',
    kind: { type: 'text' },
    placeholder: 'T',
    variable: true,
    help: 'what the control API of the server asks for',
  },
  ...HEALTHCHECK_FLAGS,
] as const satisfies readonly Flag[]
