import type { ServerResponse } from 'node:http'
import type { EnvironmentRegistry } from '../../state/environment-registry.ts'

/** Writes an answer that is sent in parts. It begins once what it rests on is durable. */
export class StreamWriter {
  readonly #response: ServerResponse
  readonly #registry: Pick<EnvironmentRegistry, 'isOver'>

  constructor(response: ServerResponse, registry: Pick<EnvironmentRegistry, 'isOver'>) {
    this.#response = response
    this.#registry = registry
  }

  begin(status: number, headers: Readonly<Record<string, string>>): void {
    this.#response.writeHead(status, headers)
  }

  /** Its server may have been stopped since the last part for longer than its lease: another process may have the state then. */
  write(part: string | Uint8Array): boolean {
    const response = this.#response
    if (this.#registry.isOver) response.destroy()
    return response.writableEnded || response.destroyed || response.write(part)
  }

  end(): void {
    this.#response.end()
  }
}
