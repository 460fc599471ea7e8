import { open, type Query } from './api.ts'

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

/** Saves the answer of a path of the control API. */
export async function download(path: string, name: string, query: Query = {}): Promise<void> {
  const response = await open('GET', path, { query })
  saveAs(await response.blob(), name)
}
