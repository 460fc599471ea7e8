import { parsedJson } from '../domain/json.ts'
import type { Operation } from '../contract/shapes.ts'
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
