import { relative, resolve } from 'node:path'
import { z } from 'zod'
import { DocumentError } from '../../files/problem.ts'
import { locatedProblems } from '../../files/read.ts'
import { SourceText } from '../../files/source-text.ts'
import { isJsonObject } from '../../model/domain/json.ts'
import { capitalise } from '../../model/domain/text.ts'
import { acceptedBy, nonEmpty, schemaReference, strict, wholeNumber } from '../../model/schema/parts.ts'
import { problemsOf } from '../../model/schema/problems.ts'
import { webhookList } from '../../model/schema/seed-values.ts'
import { readAllowance, readVerdictOptions, VerdictOptionError } from '../../journal/verdict/verdict-options.ts'
import { type Configuration, type Value, valueIn } from './arguments.ts'
import { type Flag, settingFlags, VERDICT } from './command-table.ts'
import { ENDINGS } from './run-reports.ts'

const SETTINGS = settingFlags()

/** The flags that have a key of their own in the file. */
const KEYED = SETTINGS.filter(({ name }) => name !== 'config' && !Object.hasOwn(VERDICT, name))

export function configurationKey({ name }: Flag): string {
  return name.replaceAll('-', '_')
}

const minimum = (option: 'minOperations' | 'minStatuses') =>
  z
    .union([z.number(), z.string()])
    .superRefine((value, context) => {
      try {
        readVerdictOptions({ [option]: value })
      } catch (error) {
        if (!(error instanceof VerdictOptionError)) throw error
        context.addIssue(error.expected)
      }
    })
    .optional()

const violation = nonEmpty.superRefine((text, context) => {
  const read = readAllowance(text)
  if ('expected' in read) context.addIssue(read.expected)
})

const verdict = strict({
  allow_violations: z
    .array(
      strict({
        violation: violation.describe(
          '`OPERATION`, `OPERATION:FIELD` or `unknown_path:/PATH`, as `--allow-violation`.',
        ),
        reason: nonEmpty.describe('Why it is provoked on purpose; the verdict repeats it.'),
      }),
    )
    .optional()
    .describe('Violations that the tests provoke on purpose.'),
  allow_no_requests: z
    .boolean()
    .optional()
    .describe('A run passes that calls no operation, or only with refused credentials.'),
  min_operations: minimum('minOperations').describe('The verdict fails when fewer operations have answered a success.'),
  min_statuses: minimum('minStatuses').describe('The verdict fails when fewer declared statuses have been answered.'),
  fail_on: z.enum(['warning', 'unread']).optional().describe('Which warnings fail the verdict.'),
  reports: strict(
    Object.fromEntries(
      ENDINGS.map(([ending, format]) => [
        format,
        acceptedBy<string>((file) => typeof file === 'string' && file.endsWith(ending), `a file that ends in ${ending}`)
          .optional()
          .meta({ type: 'string' })
          .describe(`Where \`run\` writes its report in this format; the name ends in \`${ending}\`.`),
      ]),
    ),
  )
    .optional()
    .describe('The reports that `run` writes.'),
})

/** A configuration file (`spec/schemas/config.schema.json`): its keys are the flags with underscores. */
export const configurationSchema = strict({
  $schema: schemaReference,
  ...Object.fromEntries(
    KEYED.map((flag) => [
      configurationKey(flag),
      flagValue(flag)
        .optional()
        .describe(`${capitalise(flag.help)}.`),
    ]),
  ),
  webhooks: webhookList.optional().describe('Where events of accounts are sent, from every environment.'),
  verdict: verdict.optional().describe('How `run` judges its requests.'),
})

function flagValue({ kind }: Flag): z.ZodType<Value> {
  switch (kind.type) {
    case 'switch':
      return z.boolean()
    case 'list':
      return z.array(nonEmpty).min(1)
    case 'whole':
      return wholeNumber(kind.min, kind.max)
    case 'choice':
      return z.enum(kind.allowed)
    default:
      return nonEmpty.superRefine((text, context) => {
        const read = valueIn(kind, text)
        if ('expected' in read) context.addIssue(read.expected)
      })
  }
}

/** Reads a configuration; paths in it are relative to `folder`. @throws DocumentError with every problem */
export function readConfiguration(file: string, text: string, folder: string): Configuration {
  const source = new SourceText(text, file)
  const isPackage = file.endsWith('package.json')
  const whole = isPackage && isJsonObject(source.value) ? source.value['toolmock'] : source.value
  // A file with comments alone changes nothing.
  const result = configurationSchema.safeParse(whole ?? {})
  if (!result.success) {
    throw new DocumentError(
      locatedProblems(source, problemsOf(result.error.issues, source.value, isPackage ? ['toolmock'] : [])),
    )
  }
  const written = result.data as Readonly<Record<string, Value | undefined>>
  const { allow_violations: allowed = [], reports = {}, ...judged } = result.data.verdict ?? {}
  const files = Object.values(reports).filter((each) => each !== undefined)
  const byFlag: Readonly<Record<string, Value | undefined>> = {
    ...Object.fromEntries(KEYED.map((flag) => [flag.name, written[configurationKey(flag)]])),
    'allow-violation': allowed.length === 0 ? undefined : allowed.map(({ violation }) => violation),
    'allow-no-requests': judged.allow_no_requests,
    'min-operations': judged.min_operations,
    'min-statuses': judged.min_statuses,
    'fail-on': judged.fail_on,
    report: files.length === 0 ? undefined : files,
  }
  const values = SETTINGS.flatMap((flag) => {
    const value = byFlag[flag.name]
    return value === undefined ? [] : [[flag.name, readSetting(flag, value, folder)] as const]
  })
  const reasons = new Map(allowed.map((each) => [each.violation, each.reason]))
  return { file, values: new Map(values), reasons, webhooks: result.data.webhooks ?? [] }
}

/** A value as the flag has it, its paths as seen from the working directory. */
function readSetting({ kind, isPath }: Flag, value: Value, folder: string): Value {
  const place = (text: string): string =>
    isPath?.(text) && folder !== process.cwd() ? relative(process.cwd(), resolve(folder, text)) : text
  if (typeof value === 'object') return value.map(place)
  if (typeof value !== 'string') return value
  const placed = valueIn(kind, place(value))
  return 'value' in placed ? placed.value : value
}
