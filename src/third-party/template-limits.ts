import type { JsonValue } from '../domain/json.ts'

/** A template that cannot be used: its syntax, an unknown helper, a construct that is not allowed, or a limit that it exceeds. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** Characters of a template. */
export const LONGEST_TEMPLATE = 65_536
/** Blocks in blocks, and calls in calls. */
export const DEEPEST_TEMPLATE = 32
/** Expressions, turns of a loop, and random numbers of generated data, while a value is rendered. */
export const MOST_STEPS = 100_000
/** Characters that the templates of a value make. */
export const MOST_TEXT = 4 * 1024 * 1024
/** Of what generated data is asked for: `length`, `count`. */
export const MOST_GENERATED = 10_000

/** What rendering one value may still use. Steps are counted, and not time, so that the same template always ends the same way. */
export class Budget {
  #steps = MOST_STEPS
  #text = MOST_TEXT

  /** @throws TemplateError */
  step(count = 1): void {
    this.#steps -= count
    if (this.#steps < 0) throw new TemplateError(`the template takes more than ${MOST_STEPS} steps`)
  }

  /** @throws TemplateError */
  text(length: number): void {
    this.#text -= length
    if (this.#text < 0) throw new TemplateError(`the template makes more than ${MOST_TEXT} characters`)
  }

  /** Counts a value that stands in the result as what it is: its texts, and a character for everything else. */
  value(value: JsonValue | undefined): void {
    const rest: (JsonValue | undefined)[] = [value]
    for (let at = rest.pop(); at !== undefined; at = rest.pop()) {
      this.text(typeof at === 'string' ? at.length : 1)
      if (typeof at !== 'object' || at === null) continue
      for (const [name, item] of Object.entries(at)) {
        if (!Array.isArray(at)) this.text(name.length)
        rest.push(item)
      }
    }
  }
}
