import { lazyImport } from '../../model/domain/once.ts'
import { checkDocumentName, type EnvironmentCall, type ControlReply, type ControlHandlers } from './call.ts'

const loadValidation = lazyImport(() => import('../../files/validate.ts'))
const loadScenarioParser = lazyImport(() => import('../../files/scenario-files.ts'))
const loadDocumentText = lazyImport(() => import('../../files/document-text.ts'))

type ScenarioCall = EnvironmentCall<'put_scenario' | 'start_scenario' | 'stop_scenario'>

export const scenarioHandlers = {
  list_scenarios: async ({ scenarios }) => ({ body: { scenarios: await scenarios.known() } }),

  get_scenario: async ({ scenarios, path }) => ({ body: await scenarios.find(path.name) }),

  validate_document: async ({ services, environment, body }) => {
    const { validateText } = await loadValidation()
    const { kind, problems } = await validateText(body.text, services.documentChecks, environment.connectors)
    return { body: { kind, problems: problems.map(({ file: _file, ...problem }) => problem) } }
  },

  put_scenario: async (call) => {
    const { services, environment, scenarios, body, path } = call
    const { parseScenario } = await loadScenarioParser()
    const source = { file: 'body', text: body.text }
    const scenario = await parseScenario(source, services.documentChecks, environment.connectors)
    checkDocumentName('name', scenario.name, path.name)
    const { editableText } = await loadDocumentText()
    scenarios.define({ ...scenario, text: editableText(body.text) })
    return scenarioReply(call)
  },

  start_scenario: async (call) => {
    return scenarioReply(call, await call.scenarios.start(call.path.name))
  },

  stop_scenario: (call) => {
    call.scenarios.stop(call.path.name)
    return scenarioReply(call)
  },

  clear_scenarios: ({ scenarios }) => {
    scenarios.clear()
    return { body: {} }
  },
} satisfies Partial<ControlHandlers>

function scenarioReply({ scenarios, path }: ScenarioCall, scenario = path.name): ControlReply {
  return { body: { scenario: scenarios.list().find(({ name }) => name === scenario) } }
}
