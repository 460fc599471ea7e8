import type { Log } from '../http/log.ts'
import type { Differences } from './transcoding.ts'
import { likelyWord } from './enum-words.ts'

/** Logs each difference between an answer and the definitions once (G62). */
export function loggedDifferences(log: Log): Differences {
  const logged = new Set<string>()
  const once = (message: string): void => {
    if (logged.has(message)) return
    logged.add(message)
    log.warn(message)
  }
  return {
    word: (word, type) => {
      const meant = likelyWord(word, type) ?? `<one of ${type.values.map(({ name }) => name).join(', ')}>`
      const problem = `${type.typeName} has no word ${word}, so its zero value is sent`
      once(`${problem}; settings of a seed can mend it: vocabulary: { ${word}: ${meant} }`)
    },
    field: (field, reason) => {
      once(`${field.parent.typeName}.${field.name} does not fit what the mock answers and is left out: ${reason}`)
    },
  }
}
