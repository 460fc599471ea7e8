import { jsonText } from '../../model/domain/json.ts'
import { existsSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { openapiConnector } from '../openapi-connector.ts'
import { readTextFile } from '../../files/text-files.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { plural, quote, shellQuote } from '../../model/domain/text.ts'
import { connectorName } from '../../model/schema/parts.ts'
import type { CommandContext, Run } from './command.ts'
import { UsageError } from './failure.ts'
import { withProgress } from './progress.ts'
import { withSchema } from '../../files/schema-line.ts'
import { writeNew } from './written-document.ts'

/** The connector on stdout, or in `--out` with a seed; what it leaves out, and the next steps, on stderr. */
export const connectorCommand: Run<'connector'> = async ({ values, operands }, context) => {
  const { out, err } = context
  const [action = '', file, ...more] = operands
  if (action !== 'from-openapi') {
    const mistake = action === '' ? 'connector needs an action' : `connector ${action} is not known`
    throw new UsageError(`${mistake}. The action is from-openapi: npx toolmock connector from-openapi FILE.`)
  }
  if (file === undefined || more.length > 0) throw new UsageError('connector from-openapi takes one FILE.')
  const { out: target, only, name } = values
  const parsedName = connectorName.optional().safeParse(name)
  if (!parsedName.success)
    throw new UsageError(`--name is ${parsedName.error.issues[0]?.message ?? ''}, not ${quote(name ?? '')}.`)
  if (target !== undefined && existsSync(target)) {
    throw new StartError(`${target} is there already and stays as it is; name another file by --out`)
  }
  const { text, summary, leftOut, seed, firstCall } = await makeConnector(file, { only, name }, context)
  if (target === undefined) out(withSchema('connector', 'connector.yaml', text).trimEnd())
  else await writeNew('connector', target, text)
  err(`${target === undefined ? '' : `wrote ${target}: `}${summary}`)
  if (leftOut.length > 0) err(`${plural(leftOut.length, 'note')} on what it does not have of the document:`)
  for (const line of leftOut) err(`- ${line}`)
  err('')
  err('Next:')
  if (target === undefined) err('  write it to a file by --out FILE, with a seed that has an account')
  else for (const line of await nextSteps(target, seed)) err(`  ${line}`)
  err(`  POST /api/v1/execute_tool ${jsonText(firstCall)}`)
}

/** Writes the seed, unless there is one, and says how to serve it. */
async function nextSteps(target: string, seed: string): Promise<string[]> {
  const folder = dirname(target)
  const stem = basename(target, extname(target))
  // The connectors of a folder with this name come with a seed file beside it.
  const isBeside = basename(folder) === 'connectors'
  const file = isBeside ? join(dirname(folder), `${stem}.yaml`) : join(folder, `${stem}.seed.yaml`)
  const isThere = existsSync(file)
  if (!isThere) await writeNew('seed', file, seed)
  const files = (isBeside ? [file] : [target, file]).map(shellQuote)
  return [
    `${file} ${isThere ? 'is there already and stays as it is' : 'is a seed with an account'}`,
    `npx toolmock validate ${files.join(' ')}`,
    `npx toolmock start ${files.map((each) => `--seed ${each}`).join(' ')}`,
  ]
}

async function makeConnector(
  file: string,
  { only, name }: { only: string | undefined; name: string | undefined },
  context: CommandContext,
): ReturnType<typeof openapiConnector> {
  const text = await readTextFile(file)
  try {
    return await withProgress(context, `Making a connector of ${file}`, (say) => {
      const progress = (done: number, total: number): void => say(`${done} of ${total} operations`)
      return openapiConnector(text, { file, name, only, progress })
    })
  } catch (error) {
    if (error instanceof Error && error.name === 'OpenapiError') throw new StartError(`${file} ${error.message}`)
    throw error
  }
}
