import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/files/load.ts'
import { validateFiles } from '../../src/files/validate.ts'
import { messagesOf, withFiles } from './files.ts'

const SHOP = 'connector: shop\nauthorization_type: API_KEY\n'
const ABOUT = (connector: string): string =>
  `name: s\nrules: [{ name: r, at: third_party, on: { connector: ${connector} }, do: [{ timeout: {} }] }]\n`

/** The problems that validate and a start report for the same files. */
async function judged(folder: string, ...names: string[]): Promise<{ validate: string[]; start: string[] }> {
  const paths = names.map((name) => (name === 'bundled' ? name : join(folder, name)))
  const { problems } = await validateFiles(paths, DOCUMENT_CHECKS)
  const validate = problems.map(({ message }) => message)
  return { validate, start: await messagesOf(loadSeeds(paths, DOCUMENT_CHECKS)) }
}

it('warns of no duration that it refuses', async () => {
  const rule = (within: string): string =>
    `name: s\nrules: [{ name: r, at: service, do: [{ hold_until: { requests: 2, within: ${within} } }] }]\n`
  await withFiles({ 'a.yaml': rule('"5"'), 'b.yaml': rule('-1') }, async (folder) => {
    const { problems, warnings } = await validateFiles([folder], DOCUMENT_CHECKS)
    expect(problems.map(({ path }) => path)).toEqual(Array(2).fill('rules[0].do[0].hold_until.within'))
    expect(warnings).toEqual([])
  })
})

it('warns of a number in a schema that no double holds, and of none that one holds (G75)', async () => {
  const tool = (most: string): string =>
    `${SHOP}tools: [{ name: shop_a, description: a, input_schema: { type: object, properties: { n: { maximum: ${most} } } }, call: { method: GET, path: / } }]\n`
  await withFiles({ 'a.yaml': tool('9007199254740993'), 'b.yaml': tool('9007199254740991') }, async (folder) => {
    const warnings = async (name: string) =>
      (await validateFiles([join(folder, name)], DOCUMENT_CHECKS)).warnings.map(({ message }) => message)
    expect((await warnings('a.yaml')).join()).toContain(
      'properties.n.maximum` is 9007199254740993, which is computed with as 9007199254740992; allowed: a number that a double holds',
    )
    expect(await warnings('b.yaml')).toEqual([])
  })
})

it('recognises the kind of each file, skips one that cannot be read, and lists every problem', async () => {
  const tree = {
    'seed.yaml':
      'accounts: [{ connector: shop, identifier: a }, { connector: nobody, identifier: a }]\nconnectors: [shop]\n',
    'shop.yaml': 'connector: shop\nauthorization_type: API_KEY\ntools: {}\n',
    'broken.yaml': 'a: [',
  }
  await withFiles(tree, async (folder) => {
    const paths = ['seed.yaml', 'gone.yaml', 'shop.yaml', 'broken.yaml'].map((name) => join(folder, name))
    const { files, problems, unreadable } = await validateFiles(paths, DOCUMENT_CHECKS)
    expect(files.map(({ kind }) => kind)).toEqual(['seed', 'connector', 'unknown'])
    expect(unreadable).toEqual([{ file: join(folder, 'gone.yaml'), reason: 'there is no such file or folder' }])
    expect(problems.map(({ file, line, path }) => [file.slice(folder.length + 1), line, path])).toEqual([
      ['seed.yaml', 1, 'accounts[1].connector'],
      ['seed.yaml', 2, 'connectors[0]'],
      ['shop.yaml', 3, 'tools'],
      ['broken.yaml', 1, ''],
    ])
  })
})

it('lists the problems of the other files of a folder, and beside a seed, when one cannot be read', async () => {
  const tree = {
    'seed.yaml': 'connectors: [latin]\naccounts: [{ connector: latin, identifier: a, status: NO }]\n',
    'connectors/shop.yaml': 'connector: shop\nauthorization_type: API_KEY\ntools: {}\n',
  }
  await withFiles(tree, async (folder) => {
    const latin = join(folder, 'connectors/latin.yaml')
    await writeFile(latin, Buffer.from('connector: latin\ndescription: \xe9\n', 'latin1'))
    for (const path of [folder, join(folder, 'seed.yaml')]) {
      const { problems, unreadable } = await validateFiles([path], DOCUMENT_CHECKS)
      expect(unreadable).toEqual([{ file: latin, reason: 'it is not UTF-8 text' }])
      const places = problems.map(({ file, path: place }) => [file.slice(folder.length + 1), place])
      expect(places.sort()).toEqual([
        ['connectors/shop.yaml', 'tools'],
        ['seed.yaml', 'accounts[0].status'],
      ])
    }
  })
})

it.each<[string, Record<string, string>, string[], string | undefined]>([
  ['a folder that is right', { 'seed.yaml': 'connectors: [shop]\n', 'c/shop.yaml': SHOP }, ['.'], undefined],
  [
    'a seed file with its connectors beside it',
    { 'seed.yaml': 'connectors: [shop]\n', 'connectors/shop.yaml': SHOP },
    ['seed.yaml'],
    undefined,
  ],
  [
    'a folder with an account at a bundled connector',
    { 'seed.yaml': 'accounts: [{ connector: mail, identifier: a }]\n', 'shop.yaml': SHOP },
    ['.'],
    'seed.yaml:1:25: `accounts[0].connector` is "mail"; allowed: a connector that there is (shop; --seed bundled, or `seed: [bundled, …]` in the configuration file, adds the bundled ones)',
  ],
  [
    'the bundled seed, and one that is added to it',
    { 'seed.yaml': 'accounts: [{ connector: mail, identifier: a }]\n' },
    ['bundled', 'seed.yaml'],
    undefined,
  ],
  [
    'connectors of one name in one folder',
    { 'a.yaml': SHOP, 'b.yaml': SHOP },
    ['.'],
    'b.yaml:1:12: `connector` is "shop", which ',
  ],
])('judges %s as a start does', async (_title, tree, names, problem) => {
  await withFiles(tree, async (folder) => {
    const { validate, start } = await judged(folder, ...names)
    expect(validate).toEqual(start)
    expect(validate).toEqual(problem === undefined ? [] : [expect.stringContaining(problem)])
  })
})

it('judges scenarios with the connectors of the seeds beside them, and with the bundled ones when there is no seed', async () => {
  const tree = { 'of-shop.yaml': ABOUT('shop'), 'of-mail.yaml': ABOUT('mail'), 'shop.yaml': SHOP }
  await withFiles(tree, async (folder) => {
    const problemsWith = async (...names: string[]): Promise<string[]> => {
      const paths = names.map((name) => join(folder, name))
      return (await validateFiles(paths, DOCUMENT_CHECKS)).problems.map(({ file }) => file.slice(folder.length + 1))
    }
    expect(await problemsWith('of-shop.yaml', 'of-mail.yaml')).toEqual(['of-shop.yaml'])
    expect(await problemsWith('of-shop.yaml', 'of-mail.yaml', 'shop.yaml')).toEqual(['of-mail.yaml'])
    expect(await problemsWith('.')).toEqual(['of-mail.yaml'])
  })
})

it('leaves files of a folder out that are not for the mock, and names them', async () => {
  const tree = {
    'package.json': '{ "name": "shop", "version": "1.0.0" }',
    'package-lock.json': '{ "name": "shop", "packages": { "": { "settings": {} } } }',
    'tsconfig.json': '{\n  // of the compiler\n  "compilerOptions": { "strict": true },\n}\n',
    'data.json': '[1]',
    '.github/workflows/ci.yaml': 'name: ci\non: push\njobs: {}\n',
    'node_modules/other/seed.yaml': 'clients: 3\n',
    'mock/seed.yaml': 'connectors: [shop]\n',
    'mock/shop.yaml': SHOP,
    'mock/broken.json': '{\n  "connector": "x",\n',
    'scenarios/misspelt.yaml': 'name: x\nrulez: []\n',
  }
  await withFiles(tree, async (folder) => {
    const inFolder = (file: string): string => file.slice(folder.length + 1)
    const { files, leftOut, problems } = await validateFiles([folder], DOCUMENT_CHECKS)
    expect(leftOut.map(inFolder)).toEqual(['data.json', 'package-lock.json', 'package.json', 'tsconfig.json'])
    expect(files.map(({ file, kind }) => [inFolder(file), kind])).toEqual([
      ['mock/broken.json', 'unknown'],
      ['mock/seed.yaml', 'seed'],
      ['mock/shop.yaml', 'connector'],
      ['scenarios/misspelt.yaml', 'scenario'],
    ])
    expect(problems.map(({ file }) => inFolder(file))).toEqual([
      'mock/broken.json',
      'scenarios/misspelt.yaml',
      'scenarios/misspelt.yaml',
    ])
    // A file that is named is always judged.
    const named = await validateFiles([join(folder, 'package.json')], DOCUMENT_CHECKS)
    expect([named.leftOut, named.problems.length > 0]).toEqual([[], true])
  })
})

it('refuses a folder without a file for the mock, as a start does', async () => {
  await withFiles({ 'package.json': '{ "name": "shop" }' }, async (folder) => {
    const reason =
      'the folder has no seed, connector, scenario or extension: none of its files has a top-level key of one'
    expect((await validateFiles([folder], DOCUMENT_CHECKS)).unreadable).toEqual([{ file: folder, reason }])
    await expect(loadSeeds([folder], DOCUMENT_CHECKS)).rejects.toThrow(reason)
  })
})

it('takes a file of the name seed, also without any key', async () => {
  await withFiles({ 'mine/seed.yaml': '# nothing yet\n{}\n', 'mine/package.json': '{}' }, async (folder) => {
    expect((await validateFiles([folder], DOCUMENT_CHECKS)).unreadable).toEqual([])
    await expect(loadSeeds([folder], DOCUMENT_CHECKS)).resolves.toBeDefined()
  })
})
