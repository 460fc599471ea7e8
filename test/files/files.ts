import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Connector } from '../../src/model/domain/connector.ts'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { DocumentError } from '../../src/files/problem.ts'
import { parseConnector } from '../../src/files/read.ts'

/** Runs `work` in a folder with these files, which is removed afterwards. */
export async function withFiles(files: Record<string, string>, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-documents-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

export function connectorOf(text: string): Promise<Connector> {
  return parseConnector(text, 'c.yaml', DOCUMENT_CHECKS)
}

/** The messages of every problem that `work` fails with; none when it succeeds. */
export async function messagesOf(work: Promise<unknown>): Promise<string[]> {
  try {
    await work
    return []
  } catch (error) {
    if (error instanceof DocumentError) return error.problems.map((problem) => problem.message)
    throw error
  }
}
