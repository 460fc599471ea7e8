/** `1 request`, `2 requests`; `many` says the plural of a noun that takes more than an `s`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

export function capitalise(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** The names that there are, for a message about one that there is not. */
export function thereAre(names: readonly string[], none: string): string {
  if (names.length === 0) return none
  return names.length === 1 ? `there is only ${names.join('')}` : `there are ${names.join(', ')}`
}

/** At most `length` characters, well-formed, with an ellipsis where some are missing. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text.toWellFormed() : `${text.slice(0, length).toWellFormed()}…`
}

/** A name in the parts after which a line may break; a short one, which every column has room for, is one part. */
export function breakable(name: string): string[] {
  return name.length > 17 ? name.split(/(?<=[._/])(?=\w)/) : [name]
}

/** A text from outside as a message shows it: in double quotes, on one line, shortened. */
export function quote(text: string, length = 100): string {
  return JSON.stringify(shorten(text, length))
}

/** A text that may come from a client as one line of at most `length` characters, without signs that a terminal obeys. */
export function oneLine(text: string, length = 240): string {
  const plain = withoutControlCharacters(text.replaceAll(/\s+/g, ' '))
  return plain.length > length ? `${plain.slice(0, length - 1).toWellFormed()}…` : plain
}

/** A text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A name or value of a form as it is meant; as it is where it is no form encoding. */
export function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** A part of a path or query without its percent-encoding; undefined when that is not well-formed. */
export function percentDecoded(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Whether an author may set a header: its name is a token (RFC 9110 5.6.2), and it does not say where the message ends. */
export function isOwnHeader(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/^(?:content-length|transfer-encoding|trailer)$/i.test(name)
}

/** Parts up to this length are left to `indexOf`, which takes the product of both lengths at worst. */
const SHORT_PART = 64

/** Where `part` begins in `text`, at `from` or after it; -1 for nowhere. In linear time (Knuth, Morris and Pratt). */
export function indexOfText(text: string, part: string, from = 0): number {
  if (part.length <= SHORT_PART) return text.indexOf(part, from)
  // How much of the part's start ends at each of its characters.
  const borders = new Int32Array(part.length)
  let matched = 0
  const next = (code: number): void => {
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0
    if (part.charCodeAt(matched) === code) matched++
  }
  for (let at = 1; at < part.length; at++) {
    next(part.charCodeAt(at))
    borders[at] = matched
  }
  matched = 0
  for (let at = from; at < text.length; at++) {
    next(text.charCodeAt(at))
    if (matched === part.length) return at - matched + 1
  }
  return -1
}

/** Well-formed, with signs that a terminal or a log obeys as escapes, `\u{1b}`. */
export function withoutControlCharacters(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}]/gu, escapeSign)
}

/** With signs that turn the direction of the text around them as escapes, `\u{202e}`. */
export function withVisibleDirections(text: string): string {
  return text.replaceAll(/\p{Bidi_Control}/gu, escapeSign)
}

function escapeSign(sign: string): string {
  return `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`
}
