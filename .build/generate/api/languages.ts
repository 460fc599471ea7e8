import type { SpecOperation } from '../spec-document.ts'
import type { Example, Json } from './examples.ts'

/** The longest literal on one line. */
const WIDTH = 90

type Operation = Pick<SpecOperation, 'method' | 'path' | 'bearer'>

interface Language {
  /** The name of the language of a block. */
  readonly block: string
  /** The program that sends the request and prints the answer. */
  readonly write: (operation: Operation, example: Example) => string
}

/** How a request is written in each language. curl prints the body of the answer, the others its status before it. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  curl: { block: 'sh', write: curl },
  TypeScript: { block: 'ts', write: typescript },
  Python: { block: 'python', write: python },
}

/** The path with its values: variables are written by `variable`. */
function pathOf({ path }: Operation, { inPath = {} }: Example, variable: (name: string) => string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = inPath[name] ?? ''
    return value.startsWith('$') ? variable(value.slice(1)) : value
  })
}

function curl(operation: Operation, example: Example): string {
  const { query = {}, form = {}, body } = example
  const search = new URLSearchParams(textsOf(query)).toString()
  const address = `"$TOOLMOCK_URL${pathOf(operation, example, (name) => `$${name}`)}${search && `?${search}`}"`
  const isPlain = operation.method === 'get' || (operation.method === 'post' && (example.form ?? body) !== undefined)
  const options = [
    ...(operation.bearer ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(form).map(([name, value]) => `-d "${name}=${value}"`),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${shellJson(body)}'`]),
  ]
  return [`curl -sS ${isPlain ? '' : `-X ${operation.method.toUpperCase()} `}${address}`, ...options].join(' \\\n  ')
}

/** JSON inside single quotes, which a variable leaves. */
function shellJson(body: Json): string {
  const line = JSON.stringify(body, null, 1).replaceAll(/\n\s*/g, ' ')
  const text = line.length > WIDTH ? JSON.stringify(body, null, 2).replaceAll('\n', '\n  ') : line
  return text.replaceAll("'", `'\\''`).replaceAll(/"\$(\w+)"/g, `"'"$$$1"'"`)
}

function typescript(operation: Operation, example: Example): string {
  const { query, form, body } = example
  const names = ['TOOLMOCK_URL', ...(operation.bearer ? ['TOKEN'] : []), ...variablesIn(example)]
  const search = query ? `?\${new URLSearchParams(${JSON.stringify(textsOf(query))}).toString()}` : ''
  const headers = [
    ...(operation.bearer ? ['Authorization: `Bearer ${TOKEN}`'] : []),
    ...(body === undefined ? [] : [`'Content-Type': 'application/json'`]),
  ]
  const options = [
    ...(operation.method === 'get' ? [] : [`method: '${operation.method.toUpperCase()}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(form ? [`body: new URLSearchParams(${literal(form)})`] : []),
    ...(body === undefined ? [] : [`body: JSON.stringify(${literal(body)})`]),
  ]
  return `const { ${names.map((name) => `${name} = ''`).join(', ')} } = process.env
const answer = await fetch(\`\${TOOLMOCK_URL}${pathOf(operation, example, (name) => `\${${name}}`)}${search}\`, { ${options.join(', ')} })
console.log(answer.status, await answer.text())`
}

function literal(value: Json): string {
  return JSON.stringify(value).replaceAll(/"\$(\w+)"/g, '$1')
}

function textsOf(query: NonNullable<Example['query']>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))
}

function variablesIn({ inPath, form, body }: Example): string[] {
  const found = JSON.stringify([inPath ?? null, form ?? null, body ?? null]).matchAll(/"\$(\w+)"/g)
  return [...new Set([...found].map(([, name = '']) => name))]
}

function python(operation: Operation, example: Example): string {
  const { query, form, body } = example
  const path = pathOf(operation, example, (name) => `{os.environ['${name}']}`)
  const lines = [
    `f"{os.environ['TOOLMOCK_URL']}${path}",`,
    ...(operation.bearer ? [`headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},`] : []),
    ...(query ? [`params=${pythonLiteral(query)},`] : []),
    ...(form ? [`data=${pythonLiteral(form)},`] : []),
    ...(body === undefined ? [] : [`json=${pythonLiteral(body)},`]),
  ]
  return `import os

import requests

answer = requests.${operation.method}(
${lines.map((line) => `    ${line.replaceAll('\n', '\n    ')}`).join('\n')}
)
print(answer.status_code, answer.text)`
}

function pythonLiteral(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string' && value.startsWith('$')) return `os.environ["${value.slice(1)}"]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const items = Array.isArray(value)
    ? (value as readonly Json[]).map(pythonLiteral)
    : Object.entries(value as Record<string, Json>).map(([key, each]) => `"${key}": ${pythonLiteral(each)}`)
  const line = `${open}${items.join(', ')}${close}`
  if (line.length <= WIDTH && !line.includes('\n')) return line
  return `${open}\n${items.map((item) => `    ${item.replaceAll('\n', '\n    ')},`).join('\n')}\n${close}`
}
