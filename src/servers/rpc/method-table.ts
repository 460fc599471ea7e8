import { plural } from '../../model/domain/text.ts'
import type { Vocabulary } from '../../model/domain/vocabulary.ts'
import type { RpcMethod } from './http-rule.ts'
import { type SkippedRule, skippedLine } from './skipped-rules.ts'
import { type MissingWord, wordDifferences } from './enum-words.ts'

/** What is served of the descriptors, what is not and why, and which words differ, for the start of a server. */
export function methodTable(
  methods: readonly RpcMethod[],
  vocabulary: Vocabulary | undefined,
  skipped: readonly SkippedRule[] = [],
): string {
  const [served, refused] = [true, false].map((is) => methods.filter(({ bindings }) => bindings.length > 0 === is))
  const width = Math.max(...methods.map(({ name }) => name.length), 0)
  const line = ({ name }: RpcMethod, text: string): string => `  ${name.padEnd(width)}  ${text}`
  const { missing, vocabulary: fixes } = wordDifferences(methods, vocabulary)
  return [
    `gRPC, gRPC-Web and Connect serve ${served?.length ?? 0} of ${plural(methods.length, 'method')}:`,
    ...(served ?? []).map((method) => line(method, operationsOf(method))),
    ...(refused?.length ? ['not served:', ...refused.map((method) => line(method, method.reason))] : []),
    ...(skipped.length > 0 ? ['rules of the descriptors that are skipped, because the document allows more:'] : []),
    ...skipped.map((rule) => `  ${skippedLine(rule)}`),
    ...(missing.length > 0 ? ['words of the mock that enumerations of the descriptors lack:'] : []),
    ...missing.flatMap((each) => (each.meant === undefined ? [] : [`  ${missingLine(each, each.meant)}`])),
    ...unknownLines(missing),
    ...vocabularyLines(fixes),
  ].join('\n')
}

function operationsOf({ bindings }: RpcMethod): string {
  const routes = new Map(bindings.flatMap(({ routes: of }) => of.map((route) => [route.operation, route] as const)))
  return [...routes.values()].map(({ operation, method, path }) => `${operation} (${method} ${path})`).join(', ')
}

function missingLine({ word, type, conflictsWith }: MissingWord, meant: string): string {
  const there = `${type.typeName} has no ${word}`
  if (conflictsWith)
    return `${there}, but ${meant}: a vocabulary cannot fix it, because ${conflictsWith.typeName} has ${word}`
  return `${there}, but ${meant}`
}

/** Words that an enumeration has nothing like, in a line for each enumeration. */
function unknownLines(missing: readonly MissingWord[]): string[] {
  const types = new Map(missing.map(({ type }) => [type.typeName, type]))
  return [...types.values()].flatMap(({ typeName, values }) => {
    const words = missing.filter(({ type, meant }) => type.typeName === typeName && meant === undefined)
    const names = words.map(({ word }) => word).join(', ')
    return names === ''
      ? []
      : [`  ${typeName} has nothing like ${names}: ${values[0]?.name ?? 'the zero value'} is sent`]
  })
}

function vocabularyLines(fixes: Readonly<Record<string, string>>): string[] {
  const lines = Object.entries(fixes).map(([word, wire]) => `    ${word}: ${wire}`)
  if (lines.length === 0) return []
  return [
    'these lines of a seed fix it (toolmock descriptors … --seed FILE writes them):',
    'settings:',
    '  vocabulary:',
    ...lines,
  ]
}
