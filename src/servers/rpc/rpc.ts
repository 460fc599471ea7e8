import type { ServiceParts } from '../http/services.ts'
import { servedRoutes } from '../../model/contract/route.ts'
import type { Log } from '../http/log.ts'
import { readDescriptors } from './descriptors.ts'
import { methodsOf } from './http-rule.ts'
import { rulesOfDescriptors } from './descriptor-rules.ts'
import { methodTable } from './method-table.ts'
import { type RpcHandler, rpcHandler } from './rpc-server.ts'
import { likelyWord } from './enum-words.ts'
import type { Differences } from './transcoding.ts'

/** gRPC, gRPC-Web and Connect from the user's protobuf descriptors (1.6). */
export interface Rpc {
  readonly handle: RpcHandler
  /** Which methods are served, which are not, and which words differ. */
  readonly table: string
}

/** @throws StartError for descriptors that cannot be used */
export async function createRpc(paths: readonly string[], services: ServiceParts): Promise<Rpc> {
  const registry = await readDescriptors(paths)
  const { extensions } = services
  const once = loggedOnce(services.log)
  const differences = loggedDifferences(once)
  const serve = () => {
    const methods = methodsOf(registry, [...servedRoutes(services), ...extensions.routes()])
    const rules = rulesOfDescriptors(registry, methods, once)
    services.descriptorRules = rules?.violations
    const handler = rpcHandler({ registry, methods, differences }, services)
    return { served: extensions.all, methods, handler, skipped: rules?.skipped ?? [] }
  }
  let current = serve()
  const table = methodTable(current.methods, services.defaultEnvironment()?.vocabulary, current.skipped)
  const handle: RpcHandler = (request, response) => {
    // Extensions can come and change while the server runs.
    if (current.served !== extensions.all) current = serve()
    return current.handler(request, response)
  }
  return { handle, table }
}

function loggedOnce(log: Log): (message: string) => void {
  const logged = new Set<string>()
  return (message) => {
    if (logged.has(message)) return
    logged.add(message)
    log.warn(message)
  }
}

/** Logs each difference between an answer and the definitions once (G62). */
function loggedDifferences(once: (message: string) => void): Differences {
  return {
    word: (word, type) => {
      const meant = likelyWord(word, type) ?? `<one of ${type.values.map(({ name }) => name).join(', ')}>`
      const problem = `${type.typeName} has no word ${word}, so its zero value is sent`
      once(`${problem}; settings of a seed can fix it: vocabulary: { ${word}: ${meant} }`)
    },
    field: (field, reason) => {
      once(`${field.parent.typeName}.${field.name} does not fit what the mock answers and is left out: ${reason}`)
    },
  }
}
