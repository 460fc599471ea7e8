import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import { openapiConnector } from '../app/openapi-connector.ts'
import { makeDirectory } from '../disk/make-directory.ts'
import { StartError } from '../domain/start-error.ts'
import { plural } from '../domain/text.ts'
import { readArguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { fileFailure, UsageError } from './failure.ts'

/** `connector from-openapi FILE`: the connector on stdout or in `--out`, and what of the document it does not have on stderr. */
export async function connector(argv: readonly string[], { variables, out, err }: CommandContext): Promise<number> {
  const { values, operands } = readArguments('connector', argv, variables)
  const [action = '', file, ...more] = operands
  if (action !== 'from-openapi') {
    const found = action === '' ? 'connector needs an action' : `connector ${action} is not known`
    throw new UsageError(`${found}. The action is from-openapi: npx toolmock connector from-openapi FILE.`)
  }
  if (file === undefined || more.length > 0) throw new UsageError('connector from-openapi takes one FILE.')
  const { out: target, only } = values
  if (target !== undefined && existsSync(target)) {
    throw new StartError(`${target} is there already and stays as it is; name another file by --out`)
  }
  const { text, summary, leftOut } = await made(file, only)
  if (target === undefined) out(text.trimEnd())
  else await write(target, text)
  err(`${target === undefined ? '' : `wrote ${target}: `}${summary}`)
  if (leftOut.length > 0) err(`${plural(leftOut.length, 'note')} on what it does not have of the document:`)
  for (const line of leftOut) err(`- ${line}`)
  return 0
}

async function made(file: string, only: string | undefined): ReturnType<typeof openapiConnector> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new StartError(`${file} cannot be read (${fileFailure(error)})`)
  })
  try {
    return await openapiConnector(text, { file, name: basename(file, extname(file)), only })
  } catch (error) {
    if (error instanceof Error && error.name === 'OpenapiError') throw new StartError(`${file} ${error.message}`)
    throw error
  }
}

async function write(file: string, text: string): Promise<void> {
  try {
    await makeDirectory(dirname(file))
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    throw new StartError(`${file} cannot be written (${fileFailure(error)})`)
  }
}
