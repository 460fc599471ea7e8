import { fileURLToPath } from 'node:url'
import { ServerProcess } from './server-process.ts'
import { type Served, served } from './toolmock.ts'
import type { Answer } from './wire.ts'

export const programPath = (name: string): string => fileURLToPath(new URL(`programs/${name}.js`, import.meta.url))

/** A bare `node:http` server that answers every request with these bytes. */
export function startBare(answer: Partial<Answer> = {}): Promise<Served> {
  return startProgram('bare-server', answer, answer.status ?? 200)
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
  return startProgram('bare-hop', { ...answer, call }, 404)
}

async function startProgram(name: string, input: object, status: number): Promise<Served> {
  return served(new ServerProcess({ args: [programPath(name), JSON.stringify(input)] }), status)
}
