import { z } from 'zod'
import type { Step } from './step.ts'

const ROWS = 'src/model/domain/generated/tables.ts'
const CHECKS = 'src/model/schema/generated/checks.ts'

type Schema = z.core.$ZodTypes

/** The types of what the functions of `src/model/schema/row-checks.ts` accept. */
const CHECKED_TYPES: Readonly<Record<string, string>> = {
  isStorableObject: 'JsonObject',
  isJsonObject: 'JsonObject',
  isPlainObject: 'CredentialsPatch',
  isAnyJson: 'JsonValue',
  isMapOfTexts: 'Record<string, string>',
  isScenario: 'Scenario',
}

/** From the declarations of the tables: the types of rows, the order of their fields, the account object of answers, and checks. */
export const tables: Step = {
  name: 'tables',
  inputs: ['src/model/schema', 'src/model/domain'],
  outputs: [ROWS, CHECKS],
  make: async () => {
    const [declarations, { stateSchema }] = await Promise.all([
      import('../../src/model/schema/tables.ts'),
      import('../../src/model/schema/state-document.ts'),
    ])
    const { account, accountFields, sections, seedShape, tables: declared } = declarations
    const objects = Object.entries(declarations).filter(([, each]) => each instanceof z.ZodObject)
    const { AUTHORIZATION_TYPES, CONNECTION_TYPES } = await import('../../src/model/domain/authorization-type.ts')
    const named = objects.map(([name, schema]) => [typeName(name), schema as unknown as Schema] as const)
    const names = new Map<unknown, string>(named.map(([name, schema]) => [schema._zod.def, name]))
    const enumerations = new Map([
      [AUTHORIZATION_TYPES.join(), 'AuthorizationType'],
      [CONNECTION_TYPES.join(), 'ConnectionType'],
    ])
    const printer = new TypePrinter(names, enumerations)
    const rows = Object.entries(declared.shape)
    return new Map([
      [
        ROWS,
        [
          "import type { AuthorizationType, ConnectionType } from '../authorization-type.ts'",
          "import type { JsonObject, JsonValue } from '../json.ts'",
          "import type { Scenario } from '../scenario.ts'",
          ...named.map(([name, schema]) => `\nexport interface ${name} ${printer.object(schema, '')}`),
          `\n/** The fields of each table's rows, in the order in which the state file and \`GET /_mock/state\` show them. */`,
          `export const COLUMNS: { readonly [Name in keyof Tables]: readonly (keyof Tables[Name][number] & string)[] } = ${JSON.stringify(
            Object.fromEntries(rows.map(([name, { element }]) => [name, Object.keys(element.shape)])),
            null,
            2,
          )}`,
          `\nexport const SECTION_NAMES: readonly (keyof Sections)[] = ${JSON.stringify(Object.keys(sections.shape))}`,
          `\n/** The fields of its row that a seed file gives an account. */`,
          `export const SEED_ACCOUNT_FIELDS = ${JSON.stringify(Object.keys(seedShape(accountFields)))} as const`,
          `\n/** What templates and matches see of an account. */`,
          `export const TEMPLATE_FIELDS = ${JSON.stringify(templateFields(accountFields))} as const`,
          accountObjects(accountFields, account.shape, printer),
          '',
        ].join('\n'),
      ],
      [CHECKS, new CheckPrinter().file(stateSchema)],
    ])
  },
}

function templateFields(fields: object): string[] {
  return Object.entries(fields).flatMap(([name, field]: [string, object]) => ('template' in field ? [name] : []))
}

/** The interface of the object that `tables.ts` exports by a name. */
function typeName(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

class TypePrinter {
  constructor(
    readonly names: ReadonlyMap<unknown, string>,
    readonly enumerations: ReadonlyMap<string, string>,
  ) {}

  type(schema: Schema, margin: string): string {
    const { def } = schema._zod
    return this.names.get(def) ?? this.anonymous(schema, margin)
  }

  object(schema: Schema, margin: string): string {
    if (schema._zod.def.type !== 'object') throw new Error(`${schema._zod.def.type} is no object`)
    const inner = `${margin}  `
    const exact = this.names.get(schema._zod.def) === 'CredentialsPatch'
    const members = Object.entries(schema._zod.def.shape as Record<string, Schema>).map(([name, member]) =>
      this.member(name, member, inner, exact),
    )
    return `{\n${members.join('\n')}\n${margin}}`
  }

  member(name: string, schema: Schema, margin: string, exact: boolean): string {
    const { description } = schema as unknown as z.ZodType
    const comment = description === undefined ? '' : `${margin}/** ${description} */\n`
    const { def } = schema._zod
    if (def.type !== 'optional') return `${comment}${margin}${name}: ${this.type(schema, margin)}`
    const inner = inside(schema)
    const type = exact && inner._zod.def.type === 'object' ? this.exact(inner, margin) : this.type(inner, margin)
    const isExact = exact || schema.constructor.name === 'ZodExactOptional'
    return `${comment}${margin}${name}?: ${type}${isExact ? '' : ' | undefined'}`
  }

  /** An object of a request: what it does not give is absent. */
  exact(schema: Schema, margin: string): string {
    const shape = (schema._zod.def as unknown as { shape: Record<string, Schema> }).shape
    const members = Object.entries(shape).map(([name, member]) => this.member(name, member, `${margin}  `, true))
    return `{\n${members.join('\n')}\n${margin}}`
  }

  anonymous(schema: Schema, margin: string): string {
    const { def } = schema._zod
    switch (def.type) {
      case 'string':
      case 'number':
      case 'boolean':
        return def.type
      case 'enum':
      case 'literal': {
        const values = def.type === 'enum' ? Object.values(def.entries) : def.values
        return this.enumerations.get(values.join()) ?? values.map((value) => literal(value)).join(' | ')
      }
      case 'array': {
        const element = this.type(def.element as Schema, margin)
        return / \| /.test(element) ? `(${element})[]` : `${element}[]`
      }
      case 'object':
        return this.object(schema, margin)
      case 'record':
        return `Record<string, ${this.type(def.valueType as Schema, margin)}>`
      case 'tuple':
        return `[${def.items.map((item) => this.type(item as Schema, margin)).join(', ')}]`
      case 'nullable':
        return `${this.type(def.innerType as Schema, margin)} | null`
      case 'custom':
        return CHECKED_TYPES[def.fn.name] ?? unknown(schema)
      default:
        return unknown(schema)
    }
  }
}

function unknown(schema: Schema): never {
  throw new Error(`a table has a ${schema._zod.def.type}, which .build/generate/tables.ts does not know`)
}

/** A value with single quotes, as the sources write it. */
function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

/** The account object of answers as written-out code, which is much faster than copying by names. */
function accountObjects(fields: object, rows: Readonly<Record<string, z.ZodType>>, printer: TypePrinter): string {
  const shown = (as: 'always' | 'alone'): [string, Schema][] =>
    Object.entries(fields).flatMap(([name, field]: [string, object]) =>
      'shown' in field && field.shown === as ? [[name, rows[name] as unknown as Schema] as [string, Schema]] : [],
    )
  const isTime = (schema: Schema): boolean =>
    schema._zod.def.type === 'optional' && (schema._zod.def.innerType as z.ZodType).meta()?.['format'] === 'date-time'
  const member = ([name, schema]: [string, Schema]): string =>
    isTime(schema) ? printer.member(name, schema, '  ', false) : `  ${name}: ${printer.type(inside(schema), '  ')}`
  const value = ([name, schema]: [string, Schema]): string =>
    schema._zod.def.type === 'optional'
      ? `    ${name}: account.${name} ?? ${zeroOf(inside(schema))},`
      : `    ${name}: account.${name},`
  const [summary, alone] = [shown('always'), shown('alone')]
  const made = (name: string, parameters: string, parts: [string, Schema][], rest = ''): string => {
    const plain = parts.filter(([, schema]) => !isTime(schema)).map(value)
    const times = parts.filter(([, schema]) => isTime(schema))
    return `
export function ${name}(${parameters}): A${name.slice(1)} {
  const shown: A${name.slice(1)} = {
${plain.join('\n')}${rest}
  }
${times.map(([field]) => `  if (account.${field}) shown.${field} = account.${field}`).join('\n')}
  return shown
}`
  }
  return `
/** The account object of lists (2.1). */
export interface AccountSummary {
${summary.map(member).join('\n')}
}

/** The account object of the operations on one account (2.1). */
export interface AccountView extends AccountSummary {
${alone.map(member).join('\n')}
  authorization_details: JsonObject
}
${made('accountSummary', 'account: Account', summary)}
${made('accountView', 'account: Account, authorization_details: JsonObject', [...summary, ...alone], '\n    authorization_details,')}`
}

function inside(schema: Schema): Schema {
  return schema._zod.def.type === 'optional' ? inside(schema._zod.def.innerType as Schema) : schema
}

/** What an answer says for a field without a value (G53). */
function zeroOf(schema: Schema): string {
  const { def } = schema._zod
  const zeros: Readonly<Record<string, string>> = {
    string: "''",
    number: '0',
    boolean: 'false',
    array: '[]',
    custom: '{}',
    object: '{}',
    record: '{}',
  }
  return zeros[def.type] ?? unknown(schema)
}

/** Prints for each table a function that says whether a row is valid: what zod would say, in plain code. */
class CheckPrinter {
  readonly #functions: string[] = []
  readonly #known = new Map<unknown, string>()
  readonly #imported = new Set<string>()

  file(stateDocument: Schema): string {
    const check = this.named(stateDocument)
    return `import { isJsonObject } from '../../domain/json.ts'
import { ${[...this.#imported].sort().join(', ')} } from '../row-checks.ts'

const isObject = (value: any): boolean => isJsonObject(value)

${this.#functions.join('\n\n')}

/** Whether a document is a valid state file, without a word about what is wrong. */
export const isStateDocument = ${check}
`
  }

  /** The name of a function that checks a value. */
  named(schema: Schema): string {
    const { def } = schema._zod
    const known = this.#known.get(def)
    if (known !== undefined) return known
    const name = `check${this.#known.size}`
    this.#known.set(def, name)
    const body =
      def.type === 'object'
        ? this.#object(def.shape as Record<string, Schema>, this.#checks(schema, 'value'))
        : `  return ${this.test(schema, 'value')}`
    this.#functions.push(`function ${name}(value: any): boolean {\n${body}\n}`)
    return name
  }

  #object(shape: Record<string, Schema>, refinements: readonly string[]): string {
    const required = Object.entries(shape).filter(([, { _zod }]) => _zod.def.type !== 'optional')
    const optional = Object.entries(shape).filter(([, { _zod }]) => _zod.def.type === 'optional')
    const refuse = (test: string, margin = '  '): string => `${margin}if (!(${test})) return false`
    return [
      refuse('isObject(value)'),
      ...required.map(([name, schema]) => refuse(this.test(schema, `value.${name}`))),
      `  let count = ${required.length}`,
      ...optional.flatMap(([name, schema]) => [
        `  if (value.${name} !== undefined) {`,
        refuse(this.test(inside(schema), `value.${name}`), '    '),
        '    count++',
        '  }',
      ]),
      ...refinements.map((test) => refuse(test)),
      '  return Object.keys(value).length === count',
    ].join('\n')
  }

  /** An expression over a value. */
  test(schema: Schema, value: string): string {
    const { def } = schema._zod
    const all = (...parts: string[]): string => [...parts, ...this.#checks(schema, value)].join(' && ')
    switch (def.type) {
      case 'string':
        return all(`typeof ${value} === 'string'`)
      case 'number':
        return all('check' in def ? `Number.isSafeInteger(${value})` : `Number.isFinite(${value})`)
      case 'boolean':
        return `typeof ${value} === 'boolean'`
      case 'enum':
        return `(${Object.values(def.entries)
          .map((each) => `${value} === ${literal(each)}`)
          .join(' || ')})`
      case 'literal':
        return `(${def.values.map((each) => `${value} === ${literal(each)}`).join(' || ')})`
      case 'nullable':
        return `(${value} === null || ${this.test(def.innerType as Schema, value)})`
      case 'custom':
        return all(this.#call(def.fn, value))
      case 'object':
        return `${this.named(schema)}(${value})`
      case 'array':
        return all(`Array.isArray(${value})`, `${value}.every(${this.named(def.element as Schema)})`)
      case 'tuple':
        return [
          `Array.isArray(${value})`,
          `${value}.length === ${def.items.length}`,
          ...def.items.map((item, at) => this.test(item as Schema, `${value}[${at}]`)),
        ].join(' && ')
      case 'record':
        return [
          `isObject(${value})`,
          `Object.entries(${value}).every(([key, each]) => ${this.test(def.keyType as Schema, 'key')} && ${this.named(def.valueType as Schema)}(each))`,
        ].join(' && ')
      default:
        return unknown(schema)
    }
  }

  #checks(schema: Schema, value: string): string[] {
    const { checks = [] } = schema._zod.def
    return checks.map((check) => {
      const def = check._zod.def as unknown as {
        check: string
        pattern?: RegExp
        value?: number
        minimum?: number
        maximum?: number
        inclusive?: boolean
        fn?: (value: never) => unknown
      }
      switch (def.check) {
        case 'string_format':
          return `${String(def.pattern)}.test(${value})`
        case 'greater_than':
          return `${value} ${def.inclusive ? '>=' : '>'} ${def.value}`
        case 'less_than':
          return `${value} ${def.inclusive ? '<=' : '<'} ${def.value}`
        case 'max_length':
          return `${value}.length <= ${def.maximum}`
        case 'min_length':
          return `${value}.length >= ${def.minimum}`
        case 'custom':
          return this.#call(def.fn, value)
        default:
          throw new Error(`a table has the check ${def.check}, which .build/generate/tables.ts does not know`)
      }
    })
  }

  #call(test: { readonly name: string } | undefined, value: string): string {
    const name = test?.name ?? ''
    this.#imported.add(name)
    return `${name}(${value})`
  }
}
