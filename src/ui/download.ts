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
