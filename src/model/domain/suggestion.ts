import { foldCase } from './fold-case.ts'

/** The allowed word that a mistyped one most likely meant; undefined when none is near. */
export function nearest(word: string, allowed: Iterable<string>): string | undefined {
  // A third of the letters may be wrong: enough for two slips in `log-levle`, too little to turn `tls` into `help`.
  const bound = Math.floor(Math.max(word.length, 3) / 3) + 1
  return closestWord(foldCase(word), allowed, bound, foldCase)
}

/** The same in another case or with other separators, or with one edit below six letters and two from six on (G6). */
export function nearMiss(name: string, candidates: Iterable<string>): string | undefined {
  const nameLetters = lettersAndDigits(name)
  return closestWord(nameLetters, candidates, nameLetters.length < 6 ? 2 : 3, lettersAndDigits)
}

/** The word that fewer than so many edits make of `sent`, and the fewest; `form` says how words are compared. */
function closestWord(
  nameLetters: string,
  words: Iterable<string>,
  bound: number,
  form: (word: string) => string,
): string | undefined {
  let [best, least]: [string | undefined, number] = [undefined, bound]
  for (const word of words) {
    const distance = editDistance(nameLetters, form(word), least)
    // A word of which no letter is right is no slip.
    if (distance < least && distance < nameLetters.length) [best, least] = [word, distance]
  }
  return best
}

function lettersAndDigits(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** ` (did you mean mail?)` for a word that is close to an allowed one, to be added to a message; empty for any other. */
export function didYouMean(word: string, allowed: Iterable<string>): string {
  return hintText(nearest(word, allowed))
}

/** The path that a wrong one most likely meant. The parts that both begin with say nothing about how near they are. */
export function nearestPath(path: string, allowed: readonly string[]): string | undefined {
  const parts = path.split(/(?=[/:])/)
  const near = allowed.filter((candidate) => {
    const others = candidate.split(/(?=[/:])/)
    const shared = [...others, ''].findIndex((part, at) => part !== parts[at])
    return nearest(parts.slice(shared).join(''), [others.slice(shared).join('')]) !== undefined
  })
  return nearest(path, near)
}

const MAX_LISTED = 40

/** The allowed words for a message about a wrong one, which name the near one among the first forty, and how many more there are. */
export function listAllowed(
  word: string,
  allowed: Iterable<string>,
  hints: { readonly nearest: typeof nearest } = { nearest },
): string {
  const all = [...allowed]
  const first = all.slice(0, MAX_LISTED)
  const more = all.length - first.length
  const near = more > 0 ? hints.nearest(word, all) : undefined
  if (near !== undefined && !first.includes(near)) first.splice(-1, 1, near)
  return `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function hintText(word: string | undefined): string {
  return word === undefined ? '' : ` (did you mean ${word}?)`
}

/** Letters of wrong words times letters of allowed ones: some tenths of a second. */
const MAX_COMPARED = 5_000_000

/** Comparing thousands of words with thousands takes minutes: after so many comparisons there are no more hints. */
export class Hints {
  #left = MAX_COMPARED

  nearest(word: string, allowed: Iterable<string>): string | undefined {
    if (this.#left < 0) return undefined
    const words = [...allowed]
    this.#left -= words.reduce((sum, { length }) => sum + length * word.length, 0)
    return this.#left < 0 ? undefined : nearest(word, words)
  }

  didYouMean(word: string, allowed: Iterable<string>): string {
    return hintText(this.nearest(word, allowed))
  }
}

/** Insertions, deletions, replacements and swaps of neighbours between two words; `bound` when there are as many or more. */
function editDistance(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) >= bound) return bound
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        costAt(row, j) + 1,
        costAt(next, j - 1) + 1,
        costAt(row, j - 1) + (same ? 0 : 1),
        swapped ? costAt(before, j - 2) + 1 : Infinity,
      )
    }
    ;[before, row] = [row, next]
  }
  return Math.min(costAt(row, b.length), bound)
}

function costAt(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}
