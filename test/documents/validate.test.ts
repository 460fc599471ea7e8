import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { validateFiles } from '../../src/documents/validate.ts'
import { withFiles } from './files.ts'

describe('validating files', () => {
  it('recognises each file, goes on past one that cannot be read, and tells every problem', async () => {
    const tree = {
      'seed.yaml':
        'connectors: [shop]\naccounts: [{ connector: mail, identifier: a }, { connector: nobody, identifier: a }]\n',
      'shop.yaml': 'connector: shop\nauthorization_type: API_KEY\ntools: {}\n',
      'broken.yaml': 'a: [',
    }
    await withFiles(tree, async (folder) => {
      const paths = ['seed.yaml', 'gone.yaml', 'shop.yaml', 'broken.yaml'].map((name) => join(folder, name))
      const { files, problems, unreadable } = await validateFiles(paths, DOCUMENT_CHECKS)
      expect(files.map(({ kind }) => kind)).toEqual(['seed', 'connector', 'unknown'])
      expect(unreadable).toEqual([{ file: join(folder, 'gone.yaml'), reason: 'there is no such file or folder' }])
      expect(problems.map(({ file, line, path }) => [file.slice(folder.length + 1), line, path])).toEqual([
        ['broken.yaml', 1, ''],
        ['seed.yaml', 2, 'accounts[1].connector'],
        ['shop.yaml', 3, 'tools'],
      ])
    })
  })

  it('finds nothing in a folder that is right', async () => {
    const tree = {
      'seed.yaml': 'connectors: [shop]\n',
      'c/shop.yaml': 'connector: shop\nauthorization_type: API_KEY\n',
    }
    await withFiles(tree, async (folder) => {
      expect(await validateFiles([folder], DOCUMENT_CHECKS)).toMatchObject({ problems: [], unreadable: [] })
    })
  })
})
