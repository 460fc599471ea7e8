import { dirname, relative, resolve } from 'node:path'
import { z } from 'zod'
import { DOCUMENT_CHECKS } from '../document-checks.ts'
import { conditions } from '../../model/schema/collections.ts'
import { loadExtensions, loadScenarios, loadSeeds, withExtensions } from '../../files/load.ts'
import { DocumentError, type FileProblem } from '../../files/problem.ts'
import { locatedProblems } from '../../files/read.ts'
import { unknownName } from '../../files/scenario-files.ts'
import { connectorsIn } from '../../files/seed-checks.ts'
import { readTextFile } from '../../files/text-files.ts'
import { SourceText } from '../../files/source-text.ts'
import { ACCOUNT_STATUSES } from '../../model/domain/account.ts'
import { isScenarioPath } from '../../model/domain/scenario.ts'
import { jsonText } from '../../model/domain/json.ts'
import { preparePatterns } from '../../model/domain/text-pattern.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { didYouMean, Hints } from '../../model/domain/suggestion.ts'
import { JournalQueryError, type Match, MATCH_KEYS, readMatch } from '../../journal/request-journal/query.ts'
import {
  acceptedBy,
  anyJson,
  instantText,
  nonEmpty,
  type Report,
  schemaReference,
  strict,
  textMap,
  uniqueList,
  wholeNumber,
  withRule,
} from '../../model/schema/parts.ts'
import { type Path, type Problem, problemsOf, problemValue, valueAtPath } from '../../model/schema/problems.ts'

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: '1 to 64 letters, digits, dots, underscores and hyphens' })

const oneOrMore = acceptedBy<string | string[]>(
  (value) => [value].flat().every((each) => typeof each === 'string' && each !== '') && [value].flat().length > 0,
  'a text, or a list of texts, none of them empty',
)
  .transform((value) => [value].flat())
  .meta({ title: 'text or texts', type: ['string', 'array'] })

const environment = withRule(textMap, (variables, report: Report) => {
  for (const [variable, value] of Object.entries(variables)) {
    if (variable.startsWith('TOOLMOCK_')) {
      report([variable], { found: 'one that the mock sets', allowed: 'names without TOOLMOCK_', atKey: true })
    } else if (!/^[A-Za-z_]\w*$/.test(variable)) {
      report([variable], { found: 'no name', allowed: 'letters, digits and underscores', atKey: true })
    } else if (String(value).includes('\0')) report([variable], { allowed: 'a text without the character 0' })
  }
})

const times = wholeNumber(0, 1_000_000).optional()
const HOW_OFTEN = 'Exactly so many times; at least once when absent.'

const filter = Object.fromEntries(
  MATCH_KEYS.map((key) => [
    key,
    anyJson
      .optional()
      .describe(`\`${key}\` of \`match\` of \`POST /_mock/requests/count\`: a value, a glob or a list.`),
  ]),
)
const match = strict(filter).transform((match) => match as Match)

const expectations = strict({
  requests: z
    .array(strict({ ...filter, times: times.describe(HOW_OFTEN) }).transform((match) => match as Match & Times))
    .default([])
    .describe('Requests that the command makes.'),
  never: z.array(match).default([]).describe('Requests that it never makes; `{}` is any request.'),
  items: z
    .array(
      strict({
        connector: nonEmpty.describe('The third-party application.'),
        collection: nonEmpty.describe('The collection of its connector.'),
        account: nonEmpty.optional().describe('Id or identifier of the account whose items are meant; absent: of all.'),
        where: conditions.default({}).describe('What an item has to be, as in steps of connectors.'),
        times: times.describe(HOW_OFTEN),
      }),
    )
    .default([])
    .describe('Items that the fake third-party applications have afterwards.'),
  accounts: z
    .array(
      strict({
        identifier: nonEmpty.describe('Its identifier.'),
        connector: nonEmpty.describe('Its connector.'),
        status: z.enum(ACCOUNT_STATUSES).describe('Its state afterwards.'),
      }),
    )
    .default([])
    .describe('States that accounts have afterwards.'),
})
interface Times {
  readonly times?: number
}

export const casesSchema = strict({
  $schema: schemaReference,
  cases: uniqueList(
    strict({
      name: name.describe('Its name in reports, and the value of `TOOLMOCK_CASE`.'),
      seed: oneOrMore.optional().describe('As `--seed`; paths are relative to this file.'),
      scenario: oneOrMore.optional().describe('As `--scenario`; paths are relative to this file.'),
      extension: oneOrMore.optional().describe('As `--extension`; paths are relative to this file.'),
      clock: instantText.optional().describe('Where its clock is frozen. Absent: `--clock`, or 2026-01-01T00:00:00Z.'),
      id_seed: wholeNumber(0, 999_999_999).optional().describe('As `--id-seed`. Absent: that, or 1.'),
      env: environment.default({}).describe('More variables of the command.'),
      expect: expectations.default({ requests: [], never: [], items: [], accounts: [] }),
    }),
    'name',
  )
    .min(1)
    .describe('Each has a mock of its own.'),
})

type Written = z.output<typeof casesSchema>['cases'][number]
export type Expectations = Written['expect']

/** What flags say for cases that do not say it themselves. */
export interface CaseDefaults {
  readonly seed: readonly string[]
  readonly scenario?: readonly string[] | undefined
  readonly extension?: readonly string[] | undefined
}

/** A case with its paths as seen from the working directory. */
export interface Case extends Omit<Written, keyof CaseDefaults>, CaseDefaults {
  readonly file: string
  readonly line: number
}

/** Reads a file of cases and everything that it names. @throws DocumentError with every problem; UnreadableFileError */
export async function loadCases(file: string, defaults: CaseDefaults): Promise<readonly Case[]> {
  const { cases, problems } = await readCases(new SourceText(await readTextFile(file), file), defaults)
  if (problems.length > 0) throw new DocumentError(problems)
  return cases
}

/** The cases of a file, right or wrong, and what is wrong with them. */
export async function readCases(
  source: SourceText,
  defaults: CaseDefaults,
): Promise<{ readonly cases: readonly Case[]; readonly problems: readonly FileProblem[] }> {
  await preparePatterns(jsonText(source.value))
  const { data, error } = casesSchema.safeParse(source.value)
  if (!data) return { cases: [], problems: locatedProblems(source, problemsOf(error.issues, source.value)) }
  const folder = dirname(source.file)
  const placed = (names: readonly string[] | undefined, isPath: (text: string) => boolean) =>
    names?.map((text) => (isPath(text) ? relative('', resolve(folder, text)) : text))
  const cases = data.cases.map((written, at): Case => {
    const { line } = source.problem({ path: ['cases', at], found: '', allowed: '' })
    const { seed, scenario, extension } = written
    return {
      ...written,
      seed: placed(seed, (path) => path !== 'bundled') ?? defaults.seed,
      scenario: placed(scenario, isScenarioPath) ?? defaults.scenario,
      extension: placed(extension, isScenarioPath) ?? defaults.extension,
      file: source.file,
      line,
    }
  })
  const result: Found = { loading: new Map(), problems: [], others: new Map() }
  for (const [at, each] of cases.entries()) await checkCase(each, ['cases', at], result)
  return { cases, problems: [...locatedProblems(source, result.problems), ...result.others.values()] }
}

interface Found {
  /** What cases name, loaded once for all that name the same. */
  readonly loading: Map<string, Promise<unknown>>
  readonly problems: Problem[]
  /** Those of other files, by their messages. */
  readonly others: Map<string, FileProblem>
}

/** Adds what a case names that there is not, and the problems of other files that it names. */
async function checkCase(
  { seed, scenario = [], extension = [], expect }: Case,
  path: Path,
  { loading, problems, others }: Found,
): Promise<void> {
  const load = async <Loaded>(
    key: string,
    names: unknown,
    read: () => Promise<Loaded>,
  ): Promise<Loaded | undefined> => {
    const id = JSON.stringify([key, names])
    const loaded = (loading.get(id) as Promise<Loaded> | undefined) ?? read()
    loading.set(id, loaded)
    return loaded.catch((error: unknown) => {
      if (!(error instanceof StartError)) throw error
      if (error instanceof DocumentError) for (const each of error.problems) others.set(each.message, each)
      else
        problems.push({ path: [...path, key], found: `not usable (${error.message})`, allowed: `what --${key} takes` })
      return undefined
    })
  }
  const extensions = await load('extension', [extension, seed], () =>
    loadExtensions({ extensions: extension, seeds: seed }, DOCUMENT_CHECKS),
  )
  const bundle = await load('seed', seed, () => loadSeeds(seed, DOCUMENT_CHECKS))
  if (!bundle || !extensions) return
  const served = extensions.map(({ extension: name }) => name)
  const connectors = connectorsIn(bundle)
  const context = { checks: withExtensions(DOCUMENT_CHECKS, { names: served }), connectors, seeds: seed }
  await load('scenario', [seed, scenario, extension], () => loadScenarios(scenario, context))

  const inExpect = [...path, 'expect']
  const matches = [
    ...expect.requests.map(({ times: _times, ...match }, at) => ({ match, at: [...inExpect, 'requests', at] })),
    ...expect.never.map((match, at) => ({ match, at: [...inExpect, 'never', at] })),
  ]
  const hints = new Hints()
  const there = bundle.connectors.map(({ connector }) => connector)
  const tools = bundle.connectors.flatMap((connector) => connector.tools.map((tool) => tool.name))
  for (const { match, at } of matches) {
    problems.push(...matchProblems(match, at, served))
    // A mistyped name would never match, and no match would look like a proof.
    for (const [key, names] of [['connector', there] as const, ['tool', tools] as const]) {
      const wanted = [match[key] ?? []].flat()
      const texts = wanted.filter((each) => typeof each === 'string' && !each.includes('*')) as string[]
      problems.push(...texts.flatMap((each) => unknownName(each, names, [...at, key], hints)))
    }
  }
  for (const part of ['items', 'accounts'] as const) {
    for (const [at, { connector, ...wanted }] of expect[part].entries()) {
      const described = bundle.connectors.find((each) => each.connector === connector)
      const place = [...inExpect, part, at]
      problems.push(...unknownName(connector, there, [...place, 'connector'], hints))
      if (described && 'collection' in wanted) {
        const names = Object.keys(described.collections ?? {})
        problems.push(...unknownName(wanted.collection, names, [...place, 'collection'], hints))
      }
    }
  }
}

/** The match of a request is what the request journal takes. */
function matchProblems(match: Match, path: Path, extensions: readonly string[]): Problem[] {
  try {
    readMatch(match, extensions)
    return []
  } catch (error) {
    if (!(error instanceof JournalQueryError)) throw error
    const { key, allowed, expected } = error
    const value = valueAtPath(match, [key])
    const hint = typeof value === 'string' ? didYouMean(value, allowed) : ''
    return [{ path: [...path, key], found: `${problemValue(value)}${hint}`, allowed: expected }]
  }
}
