import type { Answer } from './answer.ts'
import type { Judge } from './judge.ts'
import { type ConformOptions, type ConformReport, conform } from './run.ts'
import { isOperation, ROUTES } from '../contract/route.ts'
import { RandomIds } from '../state/model/ids.ts'

export { BASES } from './check.ts'
export { REPORT_FORMATS, reportText } from './report-formats.ts'

/** Runs the conformance suite; what it makes carries names that no other run has. */
export async function runConformance(options: Omit<ConformOptions, 'prefix' | 'judge'>): Promise<ConformReport> {
  const prefix = `conform-${new RandomIds().id('x').slice(2, 12)}`
  return conform({ ...options, prefix, judge: await prismAsJudge() })
}

/** Prism judges the shapes: by the same document as the mock, and by none of its code. */
export async function prismAsJudge(): Promise<Judge> {
  const { createPrismValidator } = await import('../contract/prism-validator.ts')
  const prism = await createPrismValidator()
  const routes = ROUTES.map(({ operation, method, path }) => ({ operation, method, pattern: patternOf(path) }))
  return {
    operationOf: (method, path) =>
      routes.find((route) => route.method === method && route.pattern.test(path))?.operation,
    problems: (operation, answer) => {
      if (!isOperation(operation)) return []
      const found = prism.response(operation, answer.status, textHeaders(answer), bodyOf(answer))
      return found.map(({ field, message }) => (field === '' ? message : `${field} ${message}`))
    },
  }
}

/** A part of the path in braces stands for one segment. */
function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^/]+')}$`)
}

function textHeaders({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** What is no JSON is judged as the text that it is. */
function bodyOf({ text }: Answer): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
