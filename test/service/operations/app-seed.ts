import type { Credentials } from '../../../src/model/domain/credentials.ts'
import type { TestToolmock } from '../../support/toolmock.ts'

/** One tool of the connector `app` and what its third party answers to it. */
export interface AppTool {
  name: string
  /** The answer, or a sequence of answers. */
  answers?: object | object[]
  input_schema?: object
  call?: object
  result?: object
}

/** A seed with one connector, `app`, and one account of it, Ada's, with stored credentials. */
export function appSeed(tools: AppTool[], connector: object = {}, account: object = {}): object {
  const type = 'authorization_type' in connector ? connector.authorization_type : 'API_KEY'
  return {
    connectors: [
      {
        connector: 'app',
        authorization_type: type,
        tools: tools.map(({ name, call, answers: _answers, ...rest }) => ({
          name,
          call: { method: 'POST', path: `/${name}`, ...call },
          ...rest,
        })),
        responders: tools.flatMap(({ name, answers }) =>
          answers === undefined ? [] : [{ on: { path: `/${name}` }, ...scripted(answers) }],
        ),
        ...connector,
      },
    ],
    accounts: [{ connector: 'app', identifier: 'ada', ...account }],
  }
}

function scripted(answers: object | object[]): object {
  return Array.isArray(answers) ? { sequence: answers } : { respond: answers }
}

/** Executes a tool with Ada's account. */
export function run({ api }: TestToolmock, tool_name: string, tool_input: object = {}) {
  return api.post('/execute_tool', { connector: 'app', identifier: 'ada', tool_name, tool_input })
}

/** Ada's account as get-details answers it. */
export async function ada({ api }: TestToolmock): Promise<Record<string, unknown>> {
  const answer = await api.get('/connected_accounts/details', { connector: 'app', identifier: 'ada' })
  return (answer.body as { connected_account: Record<string, unknown> }).connected_account
}

/** The credentials that are stored for Ada, which no answer shows in full. */
export function credentialsOf({ environment }: TestToolmock): Credentials {
  const account = environment.model.accountIndex.where({ connector: 'app', identifier: 'ada' })[0]
  if (!account) throw new Error('Ada has no account')
  return account.credentials
}
