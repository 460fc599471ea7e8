/** Longer sentences quote something that nobody reads to its end. */
const LONGEST = 240

/** A text that may come from a client as one line that a terminal shows and does not obey. */
export function oneLine(text: string): string {
  const plain = text
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST - 1).toWellFormed()}…` : plain
}
