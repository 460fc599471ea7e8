import type { JsonObject } from '../../model/domain/json.ts'
import type { DriftFinding, DriftRemedy } from './findings.ts'

/** Every other way that the mock can be told to take; a test holds this list against the settings and flags that there are. */
export const OTHER_WAYS: readonly DriftRemedy[] = [
  { settings: { require_user_verification: true } },
  { settings: { revocation: 'final' } },
  { settings: { virtual_mcp: true } },
  { configuration: { documented_only: true } },
  { configuration: { strict: true } },
  { configuration: { mcp: true } },
  { configuration: { body_limit: 64 * 1024 * 1024 } },
]

export interface Trial {
  /** What the service has shown of its virtual MCP servers. */
  readonly mcp: JsonObject
  /** What differs at a mock with these choices. */
  readonly findingsWith: (choices: DriftRemedy) => Promise<readonly DriftFinding[]>
  readonly progress?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Each is tried: the same requests at a mock that has it. What a mock answers with a setting breaks no document. */
export async function withRemedies(findings: readonly DriftFinding[], trial: Trial): Promise<readonly DriftFinding[]> {
  const remedies = new Map<string, JsonObject>()
  const open = (): DriftFinding[] =>
    findings.filter((each) => each.class !== 'data' && each.settings === undefined && !remedies.has(each.id))
  if (open().length === 0) return findings
  const before = new Set((await trial.findingsWith({})).map(({ id }) => id))
  // What was measured comes first: a shorter lifetime has consequences.
  const measured = settingsThatFix(findings)
  const mcp = { settings: { virtual_mcp: true, mcp: trial.mcp } }
  const ways = [
    ...(Object.keys(measured.settings ?? {}).length > 0 ? [measured] : []),
    ...(Object.keys(trial.mcp).length > 0 ? [mcp] : []),
    ...OTHER_WAYS,
  ]
  for (const [at, choices] of ways.entries()) {
    if (open().length === 0 || trial.signal?.aborted === true) break
    trial.progress?.(`settings that fix it: ${at + 1}/${ways.length}`)
    const after = new Set((await trial.findingsWith(choices)).map(({ id }) => id))
    const fixed = open().filter(({ id }) => before.has(id) && !after.has(id))
    const added = [...after].filter((id) => !before.has(id))
    if (fixed.length > added.length) for (const { id } of fixed) remedies.set(id, { ...choices })
  }
  return findings.map((each) => {
    const settings = remedies.get(each.id)
    return settings ? { ...each, class: 'mock', settings } : each
  })
}

export function settingsThatFix(findings: readonly DriftFinding[]): DriftRemedy {
  const remedies = findings.flatMap(({ settings }) => settings ?? [])
  const vocabulary = Object.assign({}, ...remedies.map(({ settings }) => settings?.['vocabulary'] ?? {})) as JsonObject
  const settings = Object.assign({}, ...remedies.map((each) => each.settings ?? {})) as JsonObject
  const configuration = Object.assign({}, ...remedies.map((each) => each.configuration ?? {})) as JsonObject
  const words = Object.keys(vocabulary).length > 0 ? { vocabulary } : {}
  return { settings: { ...settings, ...words }, ...(Object.keys(configuration).length > 0 ? { configuration } : {}) }
}
