import type { Flag } from './flag.ts'
import { COMMON_FLAGS } from './flags.ts'

export const CONFORM_FLAGS = [
  {
    name: 'base-url',
    kind: { type: 'url' },
    placeholder: 'URL',
    variable: false,
    help: 'the implementation to check (TOOLMOCK_URL by default)',
  },
  { name: 'client-id', kind: { type: 'text' }, placeholder: 'ID', variable: true, help: 'client credentials' },
  { name: 'client-secret', kind: { type: 'text' }, placeholder: 'SECRET', variable: true, help: 'client credentials' },
  {
    name: 'format',
    kind: { type: 'choice', allowed: ['text', 'json', 'junit'] },
    placeholder: 'F',
    default: 'text',
    variable: false,
    help: 'what is printed: text, json or junit',
  },
  {
    name: 'only',
    kind: { type: 'list' },
    placeholder: 'PATTERN',
    variable: false,
    help: 'only checks of this name, where `*` stands for any part: `verify/*`',
  },
  {
    name: 'basis',
    kind: { type: 'choice', allowed: ['document', 'convention', 'choice'] },
    placeholder: 'B',
    variable: false,
    help: "only checks that rest on the service's document, on convention, or on a choice of this mock",
  },
  {
    name: 'connector',
    kind: { type: 'text' },
    placeholder: 'NAME',
    variable: false,
    help: 'the connector to check with (the first of type OAUTH by default)',
  },
  {
    name: 'allow-provider-changes',
    kind: { type: 'switch' },
    variable: false,
    help: 'create, change and delete custom providers, whose deletion is permanent',
  },
  {
    name: 'consent',
    kind: { type: 'choice', allowed: ['control-api', 'skip'] },
    placeholder: 'HOW',
    default: 'skip',
    variable: false,
    help: 'control-api lets a toolmock consent and move its clock; skip leaves those checks out',
  },
  {
    name: 'admin-token',
    kind: { type: 'text' },
    placeholder: 'T',
    variable: true,
    help: 'what the control API of the toolmock asks for',
  },
  ...COMMON_FLAGS,
] as const satisfies readonly Flag[]
