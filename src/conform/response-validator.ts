import { parsedJson } from '../domain/json.ts'
import type { Operation } from '../contract/shapes.ts'
import { operationAt } from '../contract/route.ts'
import type { Answer } from './answer.ts'

/** What is wrong with the shape of an answer of an operation, one sentence for each problem. */
export type ResponseValidator = (operation: Operation, answer: Answer) => readonly string[]

/** Prism as the validator: it reads the document that the mock reads, and shares no code with the mock. */
export async function prismValidator(): Promise<ResponseValidator> {
  const { createPrismValidator } = await import('../contract/prism-validator.ts')
  const prism = await createPrismValidator()
  return (operation, answer) => {
    const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
    // A body that is not JSON is validated as a text.
    const body = answer.text === '' ? undefined : (parsedJson(answer.text) ?? answer.text)
    const found = prism.response(operation, answer.status, headers, body)
    return found.map(({ field, message }) => (field === '' ? message : `${field} ${message}`))
  }
}

/** How many answers of an operation are recorded. */
const MAX_ANSWERS = 500

/** The answers of a run by operation, which are validated at its end. */
export class RecordedAnswers {
  readonly #answers = new Map<string, Answer[]>()

  constructor(readonly problems: ResponseValidator) {}

  record(method: string, path: string, answer: Answer): void {
    const operation = operationAt(method, path)
    if (operation === undefined) return
    const answers = this.#answers.get(operation)
    if (!answers) this.#answers.set(operation, [answer])
    else if (answers.length < MAX_ANSWERS) answers.push(answer)
  }

  of(operation: string): readonly Answer[] {
    return this.#answers.get(operation) ?? []
  }
}
