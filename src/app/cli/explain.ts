import type { Rule } from '../../model/contract/generated/rules.ts'
import { type ActionWay, withWays } from '../../model/domain/action.ts'
import { plural, quote, shellQuote } from '../../model/domain/text.ts'
import type { ExplanationDocument } from '../../journal/request-journal/explain.ts'
import type { Run } from './command.ts'
import { type ControlSession, controlSession, oneOperand } from './control-session.ts'
import { RefusedError, UsageError } from './failure.ts'
import { indentLine, paintFor } from '../../platform/terminal.ts'

/** Of a running server, or of the journal file of one that is gone; a rule or an error code needs no server. */
export const explainCommand: Run<'explain'> = async (args, context) => {
  const session = controlSession(args, context)
  const operand = oneOperand('explain', 'ID_OR_RULE', session.operands)
  const rule = session.values.journal === undefined ? (ruleId(operand) ?? (await errorCode(operand))) : undefined
  if (rule !== undefined) await explainRule(rule, session)
  else await explainRequest(operand, session)
}

async function explainRequest(id: string, session: ControlSession<'explain'>): Promise<void> {
  const { call, print, terminal, values } = session
  const { journal } = values
  const ofServer = () => call('GET /requests/{id}/explain', { path: { id } })
  const response = await (journal === undefined ? ofServer() : explanationIn(journal, id))
  const lineOf = (line: string) => indentLine(line, /^[-→] /.test(line) ? 2 : 0, terminal)
  // The server of a journal file is gone.
  const linesOf = ({ command }: ActionWay) =>
    journal === undefined ? (command ? [commandLine(command, session)] : []) : undefined
  print(response, () => withWays(response, linesOf).map(lineOf).join('\n'))
}

/** A command for the server and environment of this one, as it is called in a shell. */
function commandLine(words: readonly string[], { setBy, values }: ControlSession<'explain'>): string {
  const server = (['url', 'host', 'port'] as const).filter((name) => setBy.get(name) === 'flag')
  const flags = [...server, ...(values.environment === 'default' ? [] : (['environment'] as const))]
  return [
    'npx toolmock',
    ...[...words, ...flags.flatMap((name) => [`--${name}`, String(values[name])])].map(shellQuote),
  ].join(' ')
}

async function explanationIn(file: string, id: string): Promise<ExplanationDocument> {
  const { readJournalFile } = await import('../../journal/request-journal/journal-file.ts')
  let match: ExplanationDocument | undefined
  let entries = 0
  for await (const { id: entryId, explanation } of readJournalFile(file)) {
    entries += 1
    if (entryId === id) match = explanation ?? match
  }
  if (match) return match
  throw new RefusedError(
    `the journal ${file} has no request ${quote(id)} among its ${plural(entries, 'entry', 'entries')}; ids are those of X-Request-Id`,
  )
}

/** A rule as reports and explanations cite it: `G21`, `choice:G21`, `document:4.7`, `4.7`, `transport`. */
function ruleId(text: string): string | undefined {
  const [, gap] = /^(?:(?:convention|choice):)?(g\d{1,3})$/i.exec(text) ?? []
  if (gap !== undefined) return gap.toUpperCase()
  const [, part] = /^(?:document:)?(\d{1,2}(?:\.\d{1,2})?)$/.exec(text) ?? []
  if (part !== undefined) return `document:${part}`
  return ['document', 'convention', 'choice', 'transport'].find((word) => word === text.toLowerCase())
}

/** `ACCOUNT_NOT_ACTIVE`, `invalid_client`, `LINK_EXPIRED`, in any case. */
async function errorCode(text: string): Promise<string | undefined> {
  if (!/^[a-z]+(?:_[a-z]+)*$/i.test(text)) return undefined
  const { RULES } = await import('../../model/contract/generated/rules.ts')
  return RULES.find(({ ids: [id = ''], section }) => section === ERRORS && id.toLowerCase() === text.toLowerCase())
    ?.ids[0]
}

async function explainRule(id: string, { print, terminal }: ControlSession<'explain'>): Promise<void> {
  const { RULES } = await import('../../model/contract/generated/rules.ts')
  const rules = RULES.filter(({ ids }) => ids.includes(id))
  if (rules.length === 0) throw new UsageError(`there is no rule ${id}; there are ${knownRules(RULES)}.`)
  const paint = paintFor(terminal)
  print({ id, rules: rules.map(({ ids: _, ...rule }) => rule) }, () => {
    const sections = [...new Set(rules.map(({ section }) => section))].map((section) => {
      const rows = rules.filter((rule) => rule.section === section)
      const title = section === CONTRACT ? `Where the contract rests on ${id}` : `${id}, ${section}`
      const lines = rows.map((rule) => indentLine(`- ${ruleText(rule)}`, 2, terminal))
      return [paint('bold', title), ...lines].join('\n')
    })
    return sections.join('\n\n')
  })
}

const CONTRACT = 'Contract'
const ERRORS = 'Errors'

function ruleText({ point, rule, basis, section }: Rule): string {
  const text = [point, rule].filter((part) => part !== '').join(': ')
  return basis === '' || section === CONTRACT ? text : `${text} (${basis})`
}

function knownRules(rules: readonly Rule[]): string {
  const ids = [...new Set(rules.flatMap(({ ids: each }) => each))]
  const gaps = ids.flatMap((id) => (/^G\d+$/.test(id) ? [Number(id.slice(1))] : []))
  const parts = ids.filter((id) => id.startsWith('document:'))
  parts.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return `G${Math.min(...gaps)} to G${Math.max(...gaps)}, and ${plural(parts.length, 'part')} of the document: ${parts.join(', ')}`
}
