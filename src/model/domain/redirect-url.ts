/** Keeps the rest to the octet (G30), which a URL parser rewrites; replaces a parameter of the same name. */
export function withParameters(url: string, parameters: ReadonlyMap<string, string>): string {
  const [address, fragment] = splitAtMark(url, '#')
  const [path, query] = splitAtMark(address, '?')
  const pairs = query.length > 1 ? query.slice(1).split('&') : []
  const otherPairs = pairs.filter((pair) => ![...new URLSearchParams(pair).keys()].some((name) => parameters.has(name)))
  const added = [...parameters].map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
  const all = [...otherPairs, ...added]
  return `${path}${all.length > 0 ? `?${all.join('&')}` : query}${fragment}`
}

/** The text before the first `mark`, and the rest with it. */
function splitAtMark(text: string, mark: string): [before: string, rest: string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)]
}
