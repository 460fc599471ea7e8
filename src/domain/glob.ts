/**
 * Whether `text` as a whole fits `pattern`, in which `*` stands for any run of characters, none included, and everything
 * else for itself. Looks back only to the last `*`, so that no pattern takes long: patterns and texts come from users.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text
  const runs = pattern.split('*')
  const first = runs[0] ?? ''
  const last = runs.at(-1) ?? ''
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const run of runs.slice(1, -1)) {
    const found = text.indexOf(run, at)
    if (found === -1 || found + run.length > end) return false
    at = found + run.length
  }
  return true
}
