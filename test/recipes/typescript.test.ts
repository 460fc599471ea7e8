import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createProgram, flattenDiagnosticMessageText, ModuleKind, ModuleResolutionKind, ScriptTarget } from 'typescript'
import { expect, it } from 'vitest'
import { RUNNERS } from '../../.build/consumer-programs.ts'
import { ROOT } from '../../.build/project.ts'
import { tab } from './markdown.ts'

const PAGES = ['README.md', ...['docs', 'docs/api', 'skills/toolmock', 'skills/toolmock/references'].flatMap(pagesIn)]

function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : []))
}

interface Sample {
  readonly page: string
  readonly line: number
  readonly extension: string
  readonly code: string
}

/** The code blocks of a page in TypeScript, and those in JavaScript, which have no types. */
function samplesOf(page: string): Sample[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^```(ts|js)\n([^]*?)^```$/gm)].map(({ 1: extension = '', 2: code = '', index }) => {
    return { page, line: text.slice(0, index).split('\n').length + 1, extension, code }
  })
}

/** What samples have from the text around them, or from a program of the reader. */
const SURROUNDINGS = {
  'around.d.ts': `declare const mock: import('toolmock').Toolmock
declare function createClient(options: { baseUrl: string; clientId?: string | undefined; clientSecret?: string | undefined }): unknown`,
  'application.d.ts':
    'export function startApplication(env: Readonly<Record<string, string | undefined>>): Promise<{ url: string; stop: () => Promise<void> }>',
  'send-message.ts': tab('docs/test-runners.md', 'A test', 'TypeScript'),
}

const runners = Object.entries(RUNNERS).map(([name, path]) => [name, [join(ROOT, path)]] as const)
const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: ScriptTarget.ES2023,
  lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ModuleKind.ESNext,
  moduleResolution: ModuleResolutionKind.Bundler,
  typeRoots: [join(ROOT, 'node_modules/@types')],
  types: ['node'],
  paths: {
    toolmock: [join(ROOT, 'src/index.ts')],
    'toolmock/*': [join(ROOT, 'src/app/runners/*.ts')],
    ...Object.fromEntries(runners),
  },
  allowImportingTsExtensions: true,
  allowJs: true,
  skipLibCheck: true,
  noEmit: true,
}

/** The messages of the compiler, with page and line. */
function errorsIn(samples: readonly Sample[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-samples-'))
  const write = (name: string, code: string): string => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
    return file
  }
  try {
    const around = Object.entries(SURROUNDINGS).map(([name, code]) => write(name, code))
    const bySample = new Map(
      samples.map((sample, at) => [write(`sample-${at}.${sample.extension}`, `${sample.code}export {}\n`), sample]),
    )
    const program = createProgram([...around, ...bySample.keys()], OPTIONS)
    return [...bySample].flatMap(([name, { page, line, extension }]) => {
      const file = program.getSourceFile(name)
      const semantic = extension === 'ts' ? program.getSemanticDiagnostics(file) : []
      return [...program.getSyntacticDiagnostics(file), ...semantic].map(({ start = 0, messageText }) => {
        const at = line + (file?.getLineAndCharacterOfPosition(start).line ?? 0)
        return `${page}:${at}: ${flattenDiagnosticMessageText(messageText, ' ')}`
      })
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it('the samples of the guides compile under strict, and wrong ones do not', { timeout: 120_000 }, () => {
  const samples = PAGES.flatMap(samplesOf)
  expect(samples.filter(({ extension }) => extension === 'ts').length).toBeGreaterThan(30)
  const wrong = ['const first = (answer) => answer', 'await mock.clock.advanec("2h")', 'const (']
  const samplesOfWrong = wrong.map((code, at) => ({ page: `wrong-${at}`, line: 1, extension: 'ts', code: `${code}\n` }))
  const errors = errorsIn([...samples, ...samplesOfWrong])
  expect(errors.filter((error) => !error.startsWith('wrong-'))).toEqual([])
  const pages = errors.map((error) => error.slice(0, error.indexOf(':')))
  expect([...new Set(pages)]).toEqual(samplesOfWrong.map(({ page }) => page))
})
