import { writeFile, rm } from 'node:fs/promises'
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript'
import { expect, it, vi } from 'vitest'
import { createToolmock, type Toolmock } from '../../../src/index.ts'
import { codeBlocks } from '../../recipes/markdown.ts'

it('has an example that behaves as described', async () => {
  const [example = ''] = codeBlocks('docs/library.md', 'Library', 'ts')
  const said = vi.spyOn(console, 'log').mockReturnValue(undefined)
  const file = new URL(`example-${process.pid}.mjs`, import.meta.url)
  const source = example.replace("'toolmock'", JSON.stringify(new URL('../../../src/index.ts', import.meta.url).href))
  const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2023 }
  try {
    await writeFile(file, transpileModule(source, { compilerOptions }).outputText)
    await import(file.href)
    expect(said.mock.calls).toEqual([['2 rules of the scenario never fired']])
  } finally {
    await rm(file)
  }
})

it('names exactly the members that exist', async () => {
  await using mock = await createToolmock()
  const { readFile } = await import('node:fs/promises')
  const readme = await readFile(new URL('../../../docs/library.md', import.meta.url), 'utf8')
  const [, table = ''] = readme.split('| member ')
  const cells = [
    ...table
      .split('\n\n', 1)
      .join()
      .matchAll(/^\| (.+?) +\|/gm),
  ].map(([, cell = '']) => cell)
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) => membersOf(text)))
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((path) => valueOf(mock, path) === undefined)).toEqual([])
  expect(Object.keys(mock).filter((name) => !named.some((path) => path.split('.')[0] === name))).toEqual([])
})

/** `clock.now / advance('2h')` names `clock.now` and `clock.advance`. */
function membersOf(text: string): string[] {
  const [first = '', ...others] = text.replaceAll(/\(.*?\)/g, '').split(' / ')
  const [group, ...rest] = first.split('.')
  return [first, ...others.map((name) => (rest.length > 0 ? `${group}.${name}` : name))]
}

function valueOf(mock: Toolmock, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Reflect.get(Object(value), name), mock)
}
