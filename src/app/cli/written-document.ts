import { writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { replaceFile } from '../../platform/disk/replace-file.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { systemReason } from '../../model/domain/system-error.ts'

type Kind = 'seed' | 'connector' | 'scenario' | 'config'

/** The text of a YAML file below the line by which editors find its JSON Schema, in the package where it is installed. */
export function withSchema(kind: Kind, file: string, text: string): string {
  const schema = resolve(`node_modules/toolmock/spec/schemas/${kind}.schema.json`)
  const path = relative(dirname(resolve(file)), schema).replaceAll('\\', '/')
  return `# yaml-language-server: $schema=${path.startsWith('.') ? path : `./${path}`}\n${text}`
}

/** Writes a YAML file for its user to go on with; one that is there already stays. @throws StartError */
export async function writeNew(kind: Kind, file: string, text: string): Promise<void> {
  await reported(file, async () => {
    await makeDirectory(dirname(file))
    await writeFile(file, withSchema(kind, file, text), { flag: 'wx' })
  })
}

/** Writes a document as YAML below a comment, in place of the file that is there. @throws StartError */
export async function writeDocument(kind: Kind, file: string, document: object, comment: string): Promise<void> {
  const { documentText } = await import('../../files/document-text.ts')
  await writeOver(file, withSchema(kind, file, documentText(document, comment)))
}

/** Writes a file in place of the one that is there; `what` is how messages name it. @throws StartError */
export async function writeOver(file: string, content: string | Uint8Array, what = file): Promise<void> {
  await reported(what, () => replaceFile(file, content))
}

/** Writes what messages call `what`. @throws StartError */
export async function reported(what: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    throw new StartError(notWritten(what, error))
  }
}

export function notWritten(what: string, error: unknown): string {
  return `${what} cannot be written (${systemReason(error)})`
}
