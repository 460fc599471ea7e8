/** The URL, undefined for a text that is none. `URL.canParse` of Node 20 refuses hosts with Latin-1 letters once it is optimized. */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
