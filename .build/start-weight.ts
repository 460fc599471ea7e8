import type { Metafile } from 'esbuild'

type Outputs = Metafile['outputs']

/** The files of ours that `toolmock start` goes through; each is loaded by the one before it. */
const SERVER = [
  'src/cli/main.ts',
  'src/cli/program.ts',
  'src/cli/surroundings.ts',
  'src/cli/start.ts',
  'src/app/app.ts',
]

/** The other ways to start a mock. */
const OTHERS = ['src/cli/run.ts', 'src/index.ts']

/** What costs more than the rest of the start together; only the small run-time parts of Ajv belong to the validators. */
const HEAVY =
  /node_modules\/(zod|yaml|@faker-js|@stoplight|@peculiar|ajv\/dist\/(?!runtime\/)|ajv-formats\/dist\/(?!formats))/

/**
 * Holds the bundle to loading nothing heavy before it is needed.
 * @throws Error naming what a start would load
 */
export function checkStartWeight({ outputs }: Metafile): void {
  const heavy = [...loaded([...SERVER, ...OTHERS], outputs)].flatMap((name) =>
    Object.keys(outputs[name]?.inputs ?? {}).flatMap((input) => HEAVY.exec(input)?.[0] ?? []),
  )
  if (heavy.length > 0)
    throw new Error(`A start would load ${[...new Set(heavy)].join(', ')}: import it where it is used`)
}

/** What `toolmock start` loads. */
export function loadedByStart({ outputs }: Metafile): ReadonlySet<string> {
  return loaded(SERVER, outputs)
}

function loaded(sources: readonly string[], outputs: Outputs): Set<string> {
  const starts = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint && sources.includes(entryPoint))
  return new Set(starts.flatMap(([name]) => [...imported(name, outputs)]))
}

/** The file and what it imports statically, directly and further on. */
function imported(name: string, outputs: Outputs, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const { path, kind, external } of outputs[name]?.imports ?? []) {
    if (kind === 'import-statement' && !external) imported(path, outputs, seen)
  }
  return seen
}
