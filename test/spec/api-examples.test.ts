import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { EXAMPLES, REDIRECT } from '../../.build/generate/api/examples.ts'
import { LANGUAGES } from '../../.build/generate/api/languages.ts'
import { failingScenario } from '../../.build/generate/api/scenarios.ts'
import { pretty } from '../../.build/generate/pretty.ts'
import { operationsOf, readSpec } from '../../.build/generate/spec-document.ts'
import { ROOT } from '../../.build/project.ts'
import { createToolmock, type Toolmock } from '../../src/index.ts'
import { describeWith, PYTHON } from '../support/machine.ts'

/** What the pages of `docs/api` show as answers. `vitest -u` writes it, and `npm run generate` reads it. */
const RECORDED = '.build/generate/recorded/api.json'

const operations = operationsOf(await readSpec(ROOT))
const operationOf = (id: string) => operations.find((each) => each.id === id)!
const run = promisify(execFile)

type Variables = Readonly<Record<string, string>>
interface Answer {
  readonly status: number
  readonly body: unknown
}

/** A mock whose ids and times are the same each time. */
const startMock = (): Promise<Toolmock> =>
  createToolmock({ mcp: true, idSeed: 1, clock: '2026-01-01T00:00:00Z', freeze: true, seeds: ['bundled'] })

const send = async (id: string, variables: Variables): Promise<Answer> =>
  answered((await RUNNERS['TypeScript']!(id, variables)).stdout)

/** Runs what comes before an example; returns the variables that it may use. */
async function prepare(mock: Toolmock, id: string): Promise<Variables> {
  const { access_token } = (await (
    await fetch(`${mock.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: mock.clientId,
        client_secret: mock.clientSecret,
        grant_type: 'client_credentials',
      }),
    })
  ).json()) as { access_token: string }
  const variables: Record<string, string> = { ...mock.env, TOKEN: access_token }
  let last: unknown
  for (const step of EXAMPLES[id]?.before ?? []) {
    if (step === 'consent') {
      const { headers } = await fetch(`${at(last, ['link'])}?decision=approve`, { redirect: 'manual' })
      variables[REDIRECT] = new URL(headers.get('location') ?? '').searchParams.get('auth_request_id') ?? ''
      continue
    }
    const { status, body } = await send(step, variables)
    expect(status).toBeLessThan(300)
    last = body
    const { gives } = EXAMPLES[step] ?? {}
    if (gives) variables[gives.variable] = at(body, gives.at)
  }
  return variables
}

function at(value: unknown, path: readonly string[]): string {
  return path.reduce((found, key) => (found as Record<string, unknown>)[key], value) as string
}

const programOf = (language: string, id: string): string =>
  LANGUAGES[language]!.write(operationOf(id), EXAMPLES[id] ?? {})

/** Runs the program of an example in each language. */
const RUNNERS: Readonly<Record<string, (id: string, env: Variables) => Promise<{ stdout: string }>>> = {
  curl: (id, env) => run('bash', ['-euc', programOf('curl', id)], { env: { ...process.env, ...env } }),
  TypeScript: async (id, env) => {
    const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2023 }
    const { outputText } = transpileModule(programOf('TypeScript', id), { compilerOptions })
    let stdout = ''
    const console = { log: (...values: unknown[]) => void (stdout += values.join(' ')) }
    const context = createContext({ process: { env }, fetch, URLSearchParams, console })
    await runInContext(`(async () => { ${outputText} })()`, context)
    return { stdout }
  },
  Python: (id, env) => run(PYTHON, ['-c', programOf('Python', id)], { env: { ...process.env, ...env } }),
}

function answered(stdout: string): Answer {
  const [, status = '0', body = ''] = /^(?:(\d{3}) ?)?(.*)$/s.exec(stdout.trim()) ?? []
  return { status: Number(status), body: body === '' ? null : JSON.parse(body) }
}

/** The answer that a program prints, with the default address in place of the mock's, and without signatures, whose keys are random. */
async function answerIn(language: string, id: string): Promise<Answer> {
  await using mock = await startMock()
  const variables = await prepare(mock, id)
  const { stdout } = await RUNNERS[language]!(id, variables)
  const address = stdout.replaceAll(mock.url, 'http://127.0.0.1:8665')
  return answered(address.replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'SESSION_TOKEN'))
}

describe('the examples of docs/api', () => {
  const recorded: Record<string, Answer> = {}

  it('are one for each operation', () => {
    expect(Object.keys(EXAMPLES)).toEqual(operations.map(({ id }) => id))
  })

  it.each(operations)('$id: TypeScript gets an answer that succeeds', async ({ id }) => {
    recorded[id] = await answerIn('TypeScript', id)
    expect([200, 201]).toContain(recorded[id].status)
  })

  it('get the answers that the pages show', async () => {
    const text = await pretty(ROOT, RECORDED, JSON.stringify(recorded))
    await expect(text).toMatchFileSnapshot(`${ROOT}${RECORDED}`)
  })

  describeWith('bash', 'in curl', () => {
    it.each(operations)('$id: gets the same answer', async ({ id }) => {
      const { body } = await answerIn('curl', id)
      expect(body).toEqual(recorded[id]?.body)
    })
  })

  describeWith('pytest', 'in Python', () => {
    it.each(operations)('$id: gets the same answer', async ({ id }) => {
      expect(await answerIn('Python', id)).toEqual(recorded[id])
    })
  })

  it.each(operations)('$id: fails by the scenario of its page', async (operation) => {
    const { id } = operation
    const { yaml, status, code } = failingScenario(operation)
    await using mock = await startMock()
    const variables = await prepare(mock, id)
    const { name } = parse(yaml) as { name: string }
    await mock.scenarios.define(parse(yaml) as Parameters<typeof mock.scenarios.define>[0])
    await mock.scenarios.start(name)
    const { body, status: seen } = await send(id, variables)
    expect([seen, JSON.stringify(body)]).toEqual([status, expect.stringContaining(`"${code}"`)])
  })
})
