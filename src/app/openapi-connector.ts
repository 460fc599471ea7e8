import type { JsonObject } from '../model/domain/json.ts'
import type { FromOpenapi } from '../files/openapi/connector-from-openapi.ts'
import { DOCUMENT_CHECKS } from './document-checks.ts'

export interface OpenapiConnector extends FromOpenapi {
  readonly text: string
  /** The text of a seed file that has an account at the connector. */
  readonly seed: string
  /** A body of `execute_tool` for that account: a tool that needs no input, where there is one. */
  readonly firstCall: JsonObject
}

/** Valid as `validate` judges it. @throws OpenapiError, or DocumentError for what is no YAML or JSON */
export async function openapiConnector(
  text: string,
  {
    file,
    name,
    only,
    progress,
  }: {
    file: string
    name?: string | undefined
    only: string | undefined
    progress?: (done: number, total: number) => void
  },
): Promise<OpenapiConnector> {
  const { connectorFromOpenapi } = await import('../files/openapi/connector-from-openapi.ts')
  const { createResponseGenerator } = await import('../model/contract/prism-validator.ts')
  const { parseOpenapiText } = await import('../files/openapi/parse-document.ts')
  const { documentText } = await import('../files/document-text.ts')
  const { parseConnector } = await import('../files/read.ts')
  const makeValue = await createResponseGenerator()
  const base = file.split(/[/\\]/).at(-1) ?? file
  const fileName = base.replace(/\.[^.]*$/, '')
  const fromOpenapi = connectorFromOpenapi(parseOpenapiText(text), { name, fileName, only, makeValue, progress })
  const about = `Made of ${base}. Every value may be edited: the document is not needed any more.`
  const written = documentText(fromOpenapi.connector, about)
  const { connector, tools } = await parseConnector(written, 'the connector', DOCUMENT_CHECKS)
  const account = { connector, identifier: 'ada@example.com' }
  const tool = tools.find(({ input_schema }) => input_schema['required'] === undefined) ?? tools[0]
  return {
    ...fromOpenapi,
    text: written,
    seed: documentText({ accounts: [account] }, 'An account that is connected already.'),
    firstCall: { ...account, tool_name: tool?.name ?? '', tool_input: {} },
  }
}
