type Outcome = 'failure' | 'error' | 'skipped'

export interface JunitCase {
  readonly className: string
  readonly name: string
  readonly file?: string
  readonly line?: number | null
  /** 0 when absent. */
  readonly seconds?: number
  /** Where it is absent, a case with texts has failed, and one without passed. */
  readonly outcome?: Outcome
  /** What kind of failure it is; `contract` when absent. */
  readonly type?: string
  /** The sentences of the outcome, each with its lines. */
  readonly texts?: readonly string[]
  readonly out?: readonly string[]
}

export interface JunitSuite {
  readonly name: string
  readonly cases: readonly JunitCase[]
  readonly out?: readonly string[]
}

/** Suites as JUnit XML, without a line break at its end. */
export function junitXml(name: string, suites: readonly JunitSuite[], timestamp?: string): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${outcomeCounts(suites.flatMap(({ cases }) => cases))}>`,
    ...suites.flatMap((suite) => suiteLines(suite, timestamp === undefined ? '' : ` timestamp="${timestamp}"`)),
    '</testsuites>',
  ].join('\n')
}

function suiteLines({ name, cases, out = [] }: JunitSuite, timestamp: string): string[] {
  return [
    `  <testsuite name="${name}" ${outcomeCounts(cases)} time="0"${timestamp}>`,
    ...cases.map(caseLine),
    ...outLine(out).map((line) => `    ${line}`),
    '  </testsuite>',
  ]
}

function outcomeCounts(cases: readonly JunitCase[]): string {
  const of = (wanted: Outcome): number => cases.filter((each) => junitOutcome(each) === wanted).length
  return `tests="${cases.length}" failures="${of('failure')}" errors="${of('error')}" skipped="${of('skipped')}"`
}

function junitOutcome({
  texts = [],
  outcome = texts.length > 0 ? 'failure' : undefined,
}: JunitCase): Outcome | undefined {
  return outcome
}

function caseLine(each: JunitCase): string {
  const { className, name, file, line, seconds = 0, type = 'contract', texts = [], out = [] } = each
  const outcome = junitOutcome(each)
  const place =
    file === undefined
      ? ''
      : ` file="${xmlAttribute(file)}"${line === null || line === undefined ? '' : ` line="${line}"`}`
  const head = `    <testcase classname="${xmlAttribute(className)}" name="${xmlAttribute(name)}"${place} time="${seconds}"`
  const inside = [...(outcome ? [outcomeElement(outcome, type, texts)] : []), ...outLine(out)]
  return inside.length === 0 ? `${head}/>` : `${head}>${inside.join('')}</testcase>`
}

function outcomeElement(outcome: Outcome, type: string, texts: readonly string[]): string {
  const [first = ''] = texts.map((text) => text.split('\n', 1).join())
  const message = texts.length > 1 ? `${texts.length} findings, the first: ${first}` : first
  if (outcome === 'skipped') return `<skipped message="${xmlAttribute(message)}"/>`
  return `<${outcome} type="${type}" message="${xmlAttribute(message)}">${xmlText(texts.join('\n'))}</${outcome}>`
}

function outLine(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`<system-out>${xmlText(lines.join('\n'))}</system-out>`]
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text between tags; what XML 1.0 cannot hold at all becomes a replacement character. */
export function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}

/** The same between double quotes, in one line. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replace(/[\t\n\r]/g, ' ')
}
