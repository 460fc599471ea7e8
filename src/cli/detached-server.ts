import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject } from '../domain/json.ts'

/** The server that `start --detach` started in the working directory, as its file describes it. */
export interface DetachedServer {
  /** The process that serves, or the command that is still starting it. */
  readonly pid: number
  /** What the start was given, by flag, without the admin token. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Absent until it is ready. */
  readonly ready?: {
    readonly url: string
    readonly text: string
    readonly variables: Readonly<Record<string, string>>
  }
}

export const FOLDER = '.toolmock'
export const SERVER_FILE = join(FOLDER, 'server.json')

/** Undefined where there is none, or where its file is cut off. */
export function detachedServer(): DetachedServer | undefined {
  if (!existsSync(SERVER_FILE)) return undefined
  try {
    const value: unknown = JSON.parse(readFileSync(SERVER_FILE, 'utf8'))
    return isJsonObject(value) ? (value as unknown as DetachedServer) : undefined
  } catch {
    return undefined
  }
}
