import type { _ as template, Ajv2020 } from 'ajv/dist/2020.js'
import { isMultipleOf } from '../domain/decimal.ts'
import { DATE_TIME } from '../domain/instant.ts'

type Validators = Pick<Ajv2020, 'removeKeyword' | 'addKeyword' | 'formats' | 'addFormat'>

interface TextFormat {
  readonly validate: (text: string) => boolean
}

/** What validators that are compiled into code import {@link isMultipleOf} from. */
export const DECIMALS = 'toolmock:decimals'

/** What a text of a format has to match besides, because Ajv takes more: a blank for `T`, `+0200`, `urn:uuid:`. */
const NARROWED: readonly (readonly [format: string, pattern: RegExp])[] = [
  ['date-time', DATE_TIME],
  ['time', /(?:Z|[+-]\d\d:\d\d)$/i],
  ['uuid', /^.{36}$/],
  ['hostname', /^.*[^.]$/],
  ['byte', /^.*$/],
  // Ajv's own pattern takes quadratic time.
  ['url', /^.{0,2000}$/],
]

/** Corrects where Ajv differs from JSON Schema: `multipleOf` of decimals, and formats. `_` is Ajv's. */
export function asJsonSchemaSays(ajv: Validators, _: typeof template): void {
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: 'must be a multiple', params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
    code: (cxt) => {
      const check = cxt.gen.scopeValue('func', { ref: isMultipleOf, code: _`require(${DECIMALS}).isMultipleOf` })
      cxt.fail(_`!${check}(${cxt.data}, ${cxt.schemaCode})`)
    },
  })
  for (const [name, pattern] of NARROWED) {
    const format = ajv.formats[name]
    if (format === undefined) continue
    if (format instanceof RegExp) {
      ajv.addFormat(name, new RegExp(`(?=${pattern.source})${format.source}`, format.flags))
      continue
    }
    const { validate, ...others } = typeof format === 'function' ? { validate: format } : (format as TextFormat)
    ajv.addFormat(name, { ...others, validate: (text: string) => pattern.test(text) && validate(text) })
  }
}
