import { open } from './api.ts'
import { inEnvironment } from './use-api.ts'

/** Saves the answer of a call as a file in the browser. A link cannot send the admin token. */
export function saveAs(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads the address later, so it is revoked with a delay.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Saves the answer of a path of the control API, in the environment that is shown. */
export async function download(path: string, name: string, query: { readonly format?: string } = {}): Promise<void> {
  const response = await open('GET', path, { query: { ...inEnvironment(), ...query } })
  saveAs(await response.blob(), name)
}
