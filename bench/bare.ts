import { fileURLToPath } from 'node:url'
import { ServerProcess } from './server-process.ts'
import { type Served, served } from './toolmock.ts'
import type { Answer } from './wire.ts'

export const programPath = (name: string): string => fileURLToPath(new URL(`programs/${name}.js`, import.meta.url))

export const PAUSE_PROBE = programPath('pause-probe')

/** A bare `node:http` server that answers every request with these bytes. */
export function startBare(answer: Partial<Answer> = {}, launch: BareLaunch = {}): Promise<Served> {
  return startProgram('bare-server', answer, { ...launch, status: answer.status ?? 200 })
}

export interface HopCall {
  method: string
  path: string
  headers: Record<string, string>
  body: string
  status: number
  answer: string
}

/** A bare server that makes one call to another server over a keep-alive connection before it answers. */
export function startBareHop(answer: Partial<Answer>, call: HopCall): Promise<Served> {
  return startProgram('bare-hop', { ...answer, call }, { status: 404 })
}

interface BareLaunch {
  nodeFlags?: readonly string[]
  env?: Readonly<Record<string, string>>
}

async function startProgram(
  name: string,
  input: object,
  { nodeFlags = [], env, status }: BareLaunch & { status: number },
): Promise<Served> {
  const args = [...nodeFlags, programPath(name), JSON.stringify(input)]
  return served(new ServerProcess({ args, ...(env && { env }) }), status)
}
