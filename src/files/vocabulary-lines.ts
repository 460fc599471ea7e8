import { isMap, parseDocument } from 'yaml'
import { StartError } from '../model/domain/start-error.ts'
import type { VocabularyWords } from '../model/domain/vocabulary.ts'

/** Words that it has, and comments, stay as they are. @throws StartError for a text that is no seed */
export function withVocabulary(text: string, words: VocabularyWords, file: string): string {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error) throw new StartError(`${file} cannot be read as YAML: ${error.message}`)
  if (document.contents !== null && !isMap(document.contents)) throw new StartError(`${file} is no seed: it is no map`)
  for (const [word, wire] of Object.entries(words)) {
    const path = ['settings', 'vocabulary', word]
    try {
      if (!document.hasIn(path)) document.setIn(path, wire)
    } catch {
      throw new StartError(`${file} is no seed: settings.vocabulary is no map`)
    }
  }
  // An empty document would be null, which is no seed.
  if (document.contents === null) document.set('settings', {})
  return document.toString()
}
