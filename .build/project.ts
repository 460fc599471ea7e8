import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the project, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface PackageManifest {
  name: string
  version: string
  license?: string
  licenses?: readonly { readonly type: string }[]
}

/** The package.json of a folder. */
export function manifestOf(folder: string): PackageManifest {
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as PackageManifest
}
