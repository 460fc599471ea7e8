import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type SchemaKind, withSchema } from '../../files/schema-line.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { reportWrite, writeOver } from '../../platform/disk/written-file.ts'

/** Writes a YAML file for its user to go on with; one that is there already stays. @throws StartError */
export async function writeNew(kind: SchemaKind, file: string, text: string): Promise<void> {
  await reportWrite(file, async () => {
    await makeDirectory(dirname(file))
    await writeFile(file, withSchema(kind, file, text), { flag: 'wx' })
  })
}

/** Writes a document as YAML below a comment, in place of the file that is there. @throws StartError */
export async function writeDocument(kind: SchemaKind, file: string, document: object, comment: string): Promise<void> {
  const { documentText } = await import('../../files/document-text.ts')
  await writeOver(file, withSchema(kind, file, documentText(document, comment)))
}
