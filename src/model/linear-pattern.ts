import { RE2JS } from 're2js'

/** A regular expression that somebody else wrote, run in time that grows with the text alone. */
interface LinearPattern {
  test(text: string): boolean
  toString(): string
}

/** Why a pattern cannot run in linear time: a part of a sentence after "it has". */
class UnsupportedPatternError extends Error {
  override readonly name = 'UnsupportedPatternError'
}

/** The texts of one check are too long for its patterns. */
class PatternWorkError extends RangeError {
  override readonly name = 'PatternWorkError'
}

/** Characters of a pattern: compiling one takes up to a tenth of a millisecond for each. */
const MAX_LENGTH = 2000
/** Instructions of patterns times characters of texts in one check: about half a second. */
const MAX_WORK = 100_000_000

/** Never backtracks. All patterns of an engine share one bound on the work of a check. */
export class PatternEngine {
  #work = 0
  readonly #compiled = new Map<string, LinearPattern>()

  /** As Ajv takes it. Ajv knows patterns by their text. */
  readonly regExp = Object.assign((source: string) => this.compile(source), { code: 'linearPattern' })

  reset(): void {
    this.#work = 0
  }

  /** Why a pattern cannot run in linear time; undefined when it can, and for what is no regular expression. */
  unsupported(source: string): string | undefined {
    try {
      this.compile(source)
    } catch (error) {
      if (error instanceof UnsupportedPatternError) return error.message
    }
    return undefined
  }

  /** @throws SyntaxError for no regular expression; UnsupportedPatternError */
  compile(source: string): LinearPattern {
    const cached = this.#compiled.get(source)
    if (cached) return cached
    // JavaScript says what is a regular expression, because the schema has to mean the same elsewhere.
    new RegExp(source, 'u')
    const pattern = re2Of(source)
    const size = pattern.programSize()
    const linear = {
      test: (text: string) => {
        this.#work += size * text.length
        if (this.#work > MAX_WORK) throw new PatternWorkError('a text is too long for the pattern')
        return pattern.test(text)
      },
      toString: () => source,
    }
    this.#compiled.set(source, linear)
    return linear
  }
}

function re2Of(source: string): RE2JS {
  if (source.length > MAX_LENGTH) throw new UnsupportedPatternError(`more than ${MAX_LENGTH} characters`)
  try {
    return RE2JS.compile(translatePattern(source))
  } catch (error) {
    if (error instanceof UnsupportedPatternError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new UnsupportedPatternError(reason.replace(/^error parsing regexp: /, ''))
  }
}

// RE2 reads `\s` as ASCII and lets `.` match every line terminator but \n.
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const NO_SPACE =
  String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
const ANY = String.raw`[^\n\r\x{2028}\x{2029}]`
const EVERY = String.raw`\x00-\x{10ffff}`

/** The parts of a pattern that the two syntaxes do not share; everything else means the same in both. */
const PART =
  /\\(?:u\{(?<code>[\da-fA-F]+)\}|u(?<high>[dD][89abAB][\da-fA-F]{2})\\u(?<low>[dD][c-fC-F][\da-fA-F]{2})|u(?<unit>[\da-fA-F]{4})|c(?<control>[A-Za-z])|(?<reference>[1-9]|k<)|[pP]\{(?<property>[^}]*)\}|(?<escape>[\s\S]))|\(\?(?<group><?[=!]|<[^>]*>|[a-z-]+:)|(?<empty>\[\^?\])|(?<other>[[\].])/gu

/** A pattern of JavaScript with the flag `u` in the syntax of RE2. @throws UnsupportedPatternError */
function translatePattern(source: string): string {
  let isClass = false
  return source.replaceAll(PART, (part: string, ...groupsAndContext: unknown[]) => {
    const groups = groupsAndContext.at(-1) as Partial<Record<string, string>>
    const { code, high, low, unit, control, property, escape, group, empty, other } = groups
    if (high !== undefined && low !== undefined) return escapeCharacter(JSON.parse(`"\\u${high}\\u${low}"`) as string)
    if (code !== undefined || unit !== undefined) return `\\x{${code ?? unit ?? ''}}`
    if (control !== undefined) return `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`
    if (groups['reference'] !== undefined) throw new UnsupportedPatternError('a back-reference')
    if (property !== undefined) return part.replace(/\{(?:Script|sc|General_Category|gc)=/, '{')
    if (escape !== undefined) {
      if (escape === 's' || escape === 'S') return withinClass(escape === 's' ? SPACE : NO_SPACE, isClass)
      if (escape === '0') return String.raw`\x00`
      return isClass && escape === 'b' ? String.raw`\x08` : part
    }
    if (isClass) {
      if (other === ']') isClass = false
      // `[[:alpha:]` is a set of characters in JavaScript, and the name of a class in RE2.
      if (other === '[') return String.raw`\[`
      return part
    }
    if (group !== undefined) return groupOf(group)
    if (empty !== undefined) return `[${empty === '[]' ? '^' : ''}${EVERY}]`
    if (other === '[') isClass = true
    return other === '.' ? ANY : part
  })
}

function withinClass(ranges: string, isClass: boolean): string {
  return isClass ? ranges : `[${ranges}]`
}

function escapeCharacter(character: string): string {
  return `\\x{${character.codePointAt(0)?.toString(16) ?? ''}}`
}

/** Groups need no names, because nothing reads what they match. */
function groupOf(group: string): string {
  if (group === '=' || group === '!') throw new UnsupportedPatternError('a look-ahead')
  if (group === '<=' || group === '<!') throw new UnsupportedPatternError('a look-behind')
  if (group.startsWith('<')) return '('
  throw new UnsupportedPatternError('flags inside of it')
}

/** A pattern of a document; undefined for one that cannot run in linear time. A text that is too long for it does not match. */
export function linearPattern(source: string): Pick<LinearPattern, 'test'> | undefined {
  const engine = new PatternEngine()
  try {
    const pattern = engine.compile(source)
    const test = (text: string): boolean => {
      engine.reset()
      try {
        return pattern.test(text)
      } catch {
        return false
      }
    }
    return { test }
  } catch {
    return undefined
  }
}
