import { knownConnectors } from '../scenarios/known-connectors.ts'
import { lazyImport } from '../lazy-import.ts'
import { checkDocumentName, type EnvironmentCall, type ControlReply } from './call.ts'

const loadValidation = lazyImport(() => import('../documents/validate.ts'))
const loadScenarioParser = lazyImport(() => import('../documents/scenario-files.ts'))

type ScenarioCall = EnvironmentCall<'put_scenario' | 'start_scenario' | 'stop_scenario'>

export async function listScenarios({
  services,
  environment,
}: EnvironmentCall<'list_scenarios'>): Promise<ControlReply> {
  return { body: { scenarios: await services.scenarios.of(environment).known() } }
}

export async function getScenario({
  services,
  environment,
  path,
}: EnvironmentCall<'get_scenario'>): Promise<ControlReply> {
  const { view, text = null } = await services.scenarios.of(environment).find(path.name)
  return { body: { scenario: view, document: text } }
}

/** Checks a document and changes nothing. */
export async function validateDocument({
  services,
  environment,
  body,
}: EnvironmentCall<'validate_document'>): Promise<ControlReply> {
  const { validateText } = await loadValidation()
  const connectors = knownConnectors(environment)
  const { kind, problems } = await validateText(body.text, services.documentChecks, connectors)
  return { body: { kind, problems: problems.map(({ file: _file, ...problem }) => problem) } }
}

export async function putScenario(call: EnvironmentCall<'put_scenario'>): Promise<ControlReply> {
  const { services, environment, body, path } = call
  const { parseScenario } = await loadScenarioParser()
  const source = { file: 'body', text: body.text }
  const scenario = await parseScenario(source, services.documentChecks, knownConnectors(environment))
  checkDocumentName('name', scenario.name, path.name)
  services.scenarios.of(environment).define(scenario)
  return viewOf(call)
}

export async function startScenario(call: EnvironmentCall<'start_scenario'>): Promise<ControlReply> {
  await call.services.scenarios.of(call.environment).start(call.path.name)
  return viewOf(call)
}

export function stopScenario(call: EnvironmentCall<'stop_scenario'>): ControlReply {
  call.services.scenarios.of(call.environment).stop(call.path.name)
  return viewOf(call)
}

export function clearScenarios({ services, environment }: EnvironmentCall<'clear_scenarios'>): ControlReply {
  services.scenarios.of(environment).clear()
  return { body: {} }
}

function viewOf({ services, environment, path }: ScenarioCall): ControlReply {
  const scenarios = services.scenarios.of(environment).list()
  return { body: { scenario: scenarios.find(({ name }) => name === path.name) } }
}
