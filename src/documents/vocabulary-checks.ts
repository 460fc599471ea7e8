import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { nearest } from '../domain/suggestion.ts'
import { WIRE_WORD } from '../domain/vocabulary.ts'
import { type Finding, type Path, shown } from './problem.ts'

const PATH: Path = ['settings', 'vocabulary']
const MOST_SUGGESTIONS = 3

/** A seed's `settings.vocabulary`: undefined when it has none. */
export function vocabularyIn(seed: JsonValue): JsonObject | undefined {
  const settings = isJsonObject(seed) ? own(seed, 'settings') : undefined
  const vocabulary = isJsonObject(settings) ? own(settings, 'vocabulary') : undefined
  return isJsonObject(vocabulary) ? vocabulary : undefined
}

/**
 * What is wrong with a vocabulary (G48): words that the spec does not know, and words on the wire that could be taken for
 * another one.
 */
export function vocabularyFindings(vocabulary: JsonObject, words: readonly string[]): Finding[] {
  const known = new Set(words)
  const first = new Map<string, string>()
  return Object.entries(vocabulary).flatMap(([word, wire]): Finding[] => {
    const path = [...PATH, word]
    const findings = known.has(word) ? [] : [unknownWord(word, words)]
    if (typeof wire !== 'string' || !WIRE_WORD.test(wire)) {
      return [...findings, { path, found: shown(wire), allowed: 'one or more letters, digits and underscores' }]
    }
    const before = first.get(wire)
    if (before === undefined) first.set(wire, word)
    else findings.push({ path, found: `${shown(wire)}, which ${before} has already`, allowed: 'another word for each' })
    if (known.has(wire) && !Object.hasOwn(vocabulary, wire)) {
      const allowed = `a word that the document does not have, or ${wire} with a word of its own as well`
      findings.push({ path, found: `${shown(wire)}, which is a word of the document`, allowed })
    }
    return findings
  })
}

function unknownWord(word: string, words: readonly string[]): Finding {
  const close = closest(word, words)
  const allowed = 'names of fields and values of enumerations of spec/openapi.yaml'
  return {
    path: [...PATH, word],
    found: `the unknown word ${shown(word)}`,
    allowed: close.length > 0 ? `${allowed}; close to it: ${close.join(', ')}` : allowed,
    atKey: true,
  }
}

function closest(word: string, words: readonly string[]): string[] {
  const found: string[] = []
  for (let next = nearest(word, words); next !== undefined && found.length < MOST_SUGGESTIONS;) {
    found.push(next)
    next = nearest(
      word,
      words.filter((candidate) => !found.includes(candidate)),
    )
  }
  return found
}
