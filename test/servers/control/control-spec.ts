import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Response } from 'supertest'
import { readControlDocument } from '../../../src/model/contract/generated/control-document.js'

interface SpecOperation {
  operationId: string
  summary?: string
  description?: string
  parameters?: (Parameter | Reference)[]
  responses: Record<string, { $ref?: string; content?: Record<string, MediaType> }>
  requestBody?: { content: Record<string, MediaType> }
}
interface Reference {
  $ref: string
}
interface Parameter {
  name: string
  in: 'query' | 'path'
  required?: boolean
  schema: object
}
interface MediaType {
  schema: object
  example?: unknown
}
interface Document {
  paths: Record<string, Record<string, SpecOperation>>
  components: { responses: Record<string, { content: Record<string, MediaType> }>; schemas: Record<string, object> }
}

/** `spec/control.openapi.yaml` with the schemas that it takes from files. */
export const CONTROL_SPEC = readControlDocument() as unknown as Document

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ ...CONTROL_SPEC, $id: 'control' })

/** Every operation of the document. */
export const CONTROL_OPERATIONS = Object.entries(CONTROL_SPEC.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const environment = JSON.stringify(operation.parameters ?? []).includes('#/components/parameters/Environment')
    return { path, method, operation: { ...operation, environment } }
  }),
)

/** Each schema is compiled at its first use, because compiling all of them takes longer than a test. */
const checks = new WeakMap<object, ValidateFunction>()

/** The problems of a value by a schema of the document; empty for a valid value. */
export function faultsOf(schema: object, value: unknown): string {
  const check = checks.get(schema) ?? ajv.compile(absolute(schema))
  checks.set(schema, check)
  return check(value) ? '' : ajv.errorsText(check.errors)
}

/** The answers that an operation declares, with their media types. */
export function answersOf({ responses }: SpecOperation): Map<number, Record<string, MediaType>> {
  return new Map(
    Object.entries(responses).map(([status, { $ref, content }]) => {
      const shared = $ref === undefined ? undefined : CONTROL_SPEC.components.responses[$ref.split('/').at(-1) ?? '']
      return [Number(status), shared?.content ?? content ?? {}]
    }),
  )
}

/** @throws Error when a call was answered in a way that the document does not declare */
export function judgeControlAnswer(method: string, pathAndQuery: string, answer: Response): void {
  const [path = ''] = pathAndQuery.split('?')
  const found = CONTROL_OPERATIONS.find((each) => each.method === method && fits(each.path, path))
  const description = `${method} ${pathAndQuery} answered ${answer.status} ${answer.text.slice(0, 300)}`
  const declared = found && answersOf(found.operation).get(answer.status)
  const schema = found ? declared?.[answer.type]?.schema : CONTROL_SPEC.components.schemas['Error']
  if (schema && answer.type !== 'application/json') return
  if (!schema) throw new Error(`${description}, which spec/control.openapi.yaml does not declare`)
  const problems = faultsOf(schema, answer.body)
  if (problems !== '') throw new Error(`${description}: ${problems}`)
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith('{') || part === given[at])
}

function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"control#/components')) as object
}
