import type { Metafile } from 'esbuild'

/** The files of ours that a start goes through; each is loaded by the one before it. */
const START = [
  'src/cli/main.ts',
  'src/cli/program.ts',
  'src/cli/start.ts',
  'src/cli/run.ts',
  'src/simulator.ts',
  'src/index.ts',
]

/** What costs more than the rest of the start together; only the small run-time parts of Ajv belong to the validators. */
const HEAVY =
  /node_modules\/(zod|yaml|@faker-js|@stoplight|@peculiar|ajv\/dist\/(?!runtime\/)|ajv-formats\/dist\/(?!formats))/

/**
 * Holds the bundle to loading nothing heavy before it is needed.
 * @throws Error naming what a start would load
 */
export function checkStartWeight({ outputs }: Metafile): void {
  const starts = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint && START.includes(entryPoint))
  const loaded = new Set(starts.flatMap(([name]) => [...imported(name, outputs)]))
  const heavy = [...loaded].flatMap((name) =>
    Object.keys(outputs[name]?.inputs ?? {}).flatMap((input) => HEAVY.exec(input)?.[0] ?? []),
  )
  if (heavy.length > 0)
    throw new Error(`A start would load ${[...new Set(heavy)].join(', ')}: import it where it is used`)
}

/** The file and what it imports statically, directly and further on. */
function imported(name: string, outputs: Metafile['outputs'], seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const { path, kind } of outputs[name]?.imports ?? []) {
    if (kind === 'import-statement') imported(path, outputs, seen)
  }
  return seen
}
