import { createRequire } from 'node:module'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { writeRecording } from '../../../src/compare/record/recording-files.ts'
import { withAppMock } from '../../../src/app/cli/rehearsal-mock.ts'
import { RecordingProxy } from '../../../src/compare/record/proxy.ts'
import type { Recorded } from '../../../src/compare/record/recorded.ts'
import { contractBreaches } from '../../../src/compare/record/observed.ts'
import { DOCUMENT_CHECKS } from '../../../src/app/document-checks.ts'
import { validateFiles } from '../../../src/files/validate.ts'

export interface Written {
  readonly folder: string
  readonly lines: readonly string[]
  /** Text by path inside the folder. */
  readonly files: ReadonlyMap<string, string>
  readonly exchanges: readonly Recorded[]
}

/** Records what a client does at a service, and gives the files. */
export async function withRecording<T>(
  upstream: string,
  client: (url: string) => Promise<unknown>,
  look: (written: Written) => Promise<T>,
  masking: { mask?: string[]; maskIdentifiers?: boolean } = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-record-'))
  try {
    const exchanges: Recorded[] = []
    const recorded = (exchange: Recorded): void => {
      contractBreaches(exchange)
      exchanges.push(exchange)
    }
    const proxy = new RecordingProxy({
      upstream,
      now: () => performance.timeOrigin + performance.now(),
      recorded,
    })
    const url = await proxy.listen('127.0.0.1', 0)
    try {
      await client(url)
    } finally {
      await proxy.close()
    }
    const { mask = [], maskIdentifiers = false } = masking
    const lines = await writeRecording(
      { exchanges, folder, upstream, mask, maskIdentifiers },
      withAppMock,
      () => undefined,
    )
    return await look({ folder, lines, files: await filesIn(folder), exchanges })
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function filesIn(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')] as const),
    ),
  )
}

/** The problems of all YAML files of a folder. */
export async function problemsIn(folder: string): Promise<string[]> {
  const { problems, unreadable } = await validateFiles([folder], DOCUMENT_CHECKS)
  return [...problems.map(({ message }) => message), ...unreadable.map(({ file, reason }) => `${file} ${reason}`)]
}

const require = createRequire(import.meta.url)
const harSchemas = require('har-schema') as Record<string, object>
const ajv = new Ajv({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json') as object)
for (const schema of Object.values(harSchemas)) ajv.addSchema(schema)

/** What the JSON Schemas of HAR 1.2, which others have published, say against a text. */
export function harProblems(text: string): string[] {
  ajv.validate('har.json#', JSON.parse(text))
  return (ajv.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`)
}
