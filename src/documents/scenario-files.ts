import type { Scenario } from '../domain/scenario.ts'
import type { DocumentChecks } from './connector-checks.ts'
import { DocumentError, type FileProblem } from './problem.ts'
import { located, type ReadDocument, readDocument, type ReadScenario } from './read.ts'
import { toScenario } from './scenario.ts'
import { checkScenario, type ScenarioReferences } from './scenario-checks.ts'
import type { KnownConnectors } from './seed-checks.ts'
import type { TextFile } from './seed-files.ts'

/** Everything that is wrong with a scenario, given the operations and connectors there are. */
export function problemsOfScenario({ source, shapeProblems }: ReadScenario, around: ScenarioReferences): FileProblem[] {
  return located(source, [...shapeProblems, ...checkScenario(source.value, around)])
}

/**
 * One scenario document, YAML or JSON, about these connectors.
 * @throws DocumentError with everything that is wrong with it
 */
export async function parseScenario(
  { text, file }: TextFile,
  checks: DocumentChecks,
  connectors: KnownConnectors,
): Promise<Scenario> {
  const read = await readDocument(text, file, checks)
  if (read.kind !== 'scenario') throw new DocumentError(otherProblems(read))
  const problems = problemsOfScenario(read, { operations: checks.operations, connectors })
  if (!read.document || problems.length > 0) throw new DocumentError(problems)
  return { ...toScenario(read.document), text }
}

function otherProblems(read: Exclude<ReadDocument, ReadScenario>): readonly FileProblem[] {
  if (read.kind === 'unknown') return read.problems
  const problem = { path: [], found: `a ${read.kind}`, allowed: 'a scenario: name, description, initial, rules' }
  return [read.source.problem(problem)]
}
