import type { ReportingDescriptor } from 'sarif'

type Level = 'error' | 'warning' | 'note'

interface Rule {
  readonly level: Level
  readonly short: string
  readonly help: string
}

const EXPLAIN = 'GET /_mock/requests/{id}/explain tells of each of the requests what was asked and answered.'

/** What a result can be about; ids stay, because alerts are known by them. */
export const RULES = {
  'contract-violation': {
    level: 'error',
    short: 'A request breaks the contract of the service',
    help: `Send what is allowed there. ${EXPLAIN}`,
  },
  'unknown-path': {
    level: 'error',
    short: 'A request went to a path or method that the service does not have',
    help: `Compare method and path with spec/openapi.yaml. ${EXPLAIN}`,
  },
  'unfired-rule': {
    level: 'error',
    short: 'A rule of a scenario that has to fire never did',
    help: 'The failure that the scenario plays was never met: make the request that the rule waits for, or set must_fire: false.',
  },
  'too-little-driven': {
    level: 'error',
    short: 'Less was driven than was asked for',
    help: 'The report of coverage lists what was never driven: exercise it, or ask for less.',
  },
  'answer-violation': {
    level: 'error',
    short: 'The mock itself answered against the contract',
    help: 'This is a defect of toolmock and not of the client: please report it.',
  },
  unread: {
    level: 'warning',
    short: 'Something was sent under a name that nothing reads',
    help: `Look for a slip in the name, or leave it away. ${EXPLAIN}`,
  },
  output_only: {
    level: 'warning',
    short: 'A field was sent that is only ever answered',
    help: `Leave it away: the service ignores it. ${EXPLAIN}`,
  },
  ignored: {
    level: 'warning',
    short: 'A value was sent that has no effect',
    help: `Leave it away, or send a value that the service knows. ${EXPLAIN}`,
  },
  alias: {
    level: 'note',
    short: 'A field was sent by another name than the one of the document',
    help: `Use the name of the document. ${EXPLAIN}`,
  },
} as const satisfies Readonly<Record<string, Rule>>

export type RuleId = keyof typeof RULES

export const RULE_IDS = Object.keys(RULES) as RuleId[]

/** All of them, whatever was found: a log says by what it has judged. */
export function ruleDescriptors(): ReportingDescriptor[] {
  return RULE_IDS.map((id) => {
    const { level, short, help } = RULES[id]
    return {
      id,
      name: id.replace(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase()),
      shortDescription: { text: short },
      fullDescription: { text: `${short}. ${help}` },
      help: { text: help },
      defaultConfiguration: { level },
      properties: { tags: ['contract'], precision: 'very-high', 'problem.severity': SEVERITIES[level] },
    }
  })
}

/** The words of code scanning for the same. */
const SEVERITIES: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', note: 'recommendation' }
