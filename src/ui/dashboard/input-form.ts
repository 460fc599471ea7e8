import { isJsonObject, type JsonObject, type JsonValue, browserJson } from '../../model/domain/json.ts'

export interface InputField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'json'
  readonly required: boolean
  readonly description: string
  /** The values that the schema allows, where it lists them. */
  readonly choices?: readonly string[]
}

/** A field for the whole input as JSON, for schemas without `properties`. */
const WHOLE: InputField = {
  name: 'input',
  kind: 'json',
  required: false,
  description: 'The whole input as one JSON object.',
}

/** The fields for an input of this JSON Schema. The server checks the input, so the form reads only a few keywords. */
export function fieldsOf(schema: Readonly<Record<string, unknown>>): InputField[] {
  const { properties, required } = schema as JsonObject
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return properties === undefined ? [WHOLE] : []
  const needed = Array.isArray(required) ? required : []
  return Object.entries(properties).map(([name, member]) => {
    const { type, description, enum: values } = isJsonObject(member) ? member : ({} as JsonObject)
    const kind = inputKind(type)
    const listed = Array.isArray(values) ? values.map(String) : kind === 'boolean' ? ['true', 'false'] : undefined
    return {
      name,
      kind,
      required: needed.includes(name),
      description: typeof description === 'string' ? description : '',
      ...(listed ? { choices: listed } : {}),
    }
  })
}

function inputKind(type: JsonValue | undefined): InputField['kind'] {
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

/** The input that the user entered. Empty fields are left out; the server says whether they are required. */
export function inputOf(
  fields: readonly InputField[],
  values: Readonly<Record<string, string>>,
): { readonly input: JsonObject; readonly problem?: string } {
  const input = new Map<string, JsonValue>()
  for (const { name, kind } of fields) {
    const text = values[name] ?? ''
    if (text === '') continue
    const value = kind === 'text' ? text : browserJson(text)
    if (value === undefined && kind === 'json') return { input: {}, problem: `${name} is not valid JSON.` }
    // An invalid number is sent as text, so that the user sees how the server refuses it.
    input.set(name, value ?? text)
  }
  const [only] = fields
  const whole = only === WHOLE ? input.get(WHOLE.name) : undefined
  if (only === WHOLE && whole !== undefined && !isJsonObject(whole))
    return { input: {}, problem: 'The input is not a JSON object.' }
  return { input: isJsonObject(whole) ? whole : Object.fromEntries(input) }
}
