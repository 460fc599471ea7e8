import { dirname, sep } from 'node:path'

/** Put in by `.build/binary`: Node and the program are one file. */
declare const TOOLMOCK_EXECUTABLE: boolean | undefined

const IS_EXECUTABLE = typeof TOOLMOCK_EXECUTABLE === 'boolean'

/** As messages have it; {@link programName} takes its place. */
export const LOCAL_PROGRAM = 'npx toolmock'

/** What a person types to call this program again: messages name it as it was started. */
export function programName(): string {
  return IS_EXECUTABLE ? process.argv0 : scriptName(process.argv[1] ?? '', process.env['PWD'] ?? '')
}

export function scriptName(script: string, workingFolder: string): string {
  const packageFolder = dirname(dirname(script)) + sep
  const isLocal =
    script.includes(`${sep}node_modules${sep}`) ||
    `${workingFolder}${sep}`.startsWith(packageFolder) ||
    script.startsWith(`${workingFolder}${sep}`)
  return isLocal ? LOCAL_PROGRAM : 'toolmock'
}

/** The arguments with which Node starts this program again. */
export function ownScript(): string[] {
  return IS_EXECUTABLE ? [] : [...process.execArgv, process.argv[1] ?? '']
}
