import { lazyImport } from './once.ts'

const loadEngine = lazyImport(() => import('../linear-pattern.ts'))
const compiled = new WeakMap<object, { test(text: string): boolean } | undefined>()

/** What is allowed in place of a pattern that cannot run in linear time. */
export const LINEAR_PATTERN =
  'no look-ahead, look-behind or back-reference, and at most 1000 repetitions and 2000 characters'

/** Loads what runs patterns where a text may have one: it takes longer to load than many starts, and matching never waits. */
export async function preparePatterns(source: { includes(part: string): boolean }): Promise<void> {
  if (source.includes('matches')) await loadEngine()
}

function loadedEngine() {
  if (!loadEngine.loaded) throw new Error('preparePatterns comes before patterns are run')
  return loadEngine.loaded
}

/** Whether a text is a regular expression that runs in linear time. */
export function isLinearPattern(source: unknown): boolean {
  return typeof source === 'string' && loadedEngine().linearPattern(source) !== undefined
}

/** Whether the pattern is anywhere in a text. One that was stored by another version and cannot run is in none. */
export function hasPattern(matcher: { readonly matches: string }, text: string): boolean {
  if (!compiled.has(matcher)) compiled.set(matcher, loadedEngine().linearPattern(matcher.matches))
  return compiled.get(matcher)?.test(text) === true
}
