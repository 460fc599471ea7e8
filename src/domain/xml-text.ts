const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text between tags; what XML 1.0 cannot hold at all becomes a replacement character. */
export function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}

/** The same between double quotes, in one line. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replace(/[\t\n\r]/g, ' ')
}
