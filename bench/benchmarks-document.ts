import { type BarName, BARS } from './bars.ts'

/** The heading of the hand-written part: one line for each missed bar. */
const REASONS = '## Bars that are missed, and why'
const LINE = /^- `([a-z0-9-]+)`: /

export interface Run {
  date: string
  machine: string
  /** The command that was run. */
  command: string
  figures: string
  peers: string
  /** The versions of the peers, and why others could not be installed. */
  notes: readonly string[]
  missed: readonly BarName[]
}

/** The new text of `docs/benchmarks.md`. It keeps the reasons of the old text and adds a line for each missed bar without one. */
export function benchmarksDocument(run: Run, old: string): string {
  const peers = run.peers === '' ? [] : ['## Beside others on the same work', INTRODUCTION_OF_PEERS, run.peers]
  const notes = run.notes.map((note) => `- ${note}`).join('\n')
  return [
    '# Benchmarks',
    INTRODUCTION,
    `Measured on ${run.date} by \`${run.command}\`: ${run.machine}.`,
    run.figures,
    REASONS,
    reasonLines(run.missed, old).join('\n'),
    ...peers,
    ...(notes === '' ? [] : [notes]),
    '',
  ].join('\n\n')
}

const INTRODUCTION = `This page says how fast the mock is and how much memory it uses, each beside a bar that it has to keep. \`npm run bench -- --write\`
writes the tables; the reasons below them are written by hand. All figures of a table come from one run. A ratio compares with a bare \`node:http\` server that answers the same bytes on the same core, round by round in turn, and is
the median of the rounds' own ratios; the spread is the lowest and the highest round. Work that the processor limits is judged
by the CPU that the server uses for an answer, durable creates by answers a second.`

const INTRODUCTION_OF_PEERS = `The versions are the newest that run on this Node. Prism and Mockoon serve \`spec/openapi.yaml\` and keep no state; json-server writes
its whole file for each create, and syncs nothing; toolmock's creates are on disk when they are answered.`

/** The reasons of bars that this run reaches stay as well: a run on another machine may need them. */
function reasonLines(missed: readonly BarName[], old: string): string[] {
  const known = oldReasons(old)
  const names = (Object.keys(BARS) as BarName[]).filter((name) => known.has(name) || missed.includes(name))
  if (names.length === 0) return ['None.']
  return names.map((name) => {
    const held = missed.includes(name) ? '' : ' (held in this run)'
    return `- \`${name}\`:${held} ${known.get(name) ?? `${BARS[name].title}: no reason is written down yet.`}`
  })
}

/** The reasons by the name of the bar. A reason may have several lines. */
function oldReasons(old: string): Map<string, string> {
  const part = old.split(`${REASONS}\n`)[1]?.split('\n## ')[0] ?? ''
  const reasons = new Map<string, string>()
  let current: string | undefined
  for (const line of part.split('\n')) {
    const name = LINE.exec(line)?.[1]
    if (name !== undefined) reasons.set((current = name), line.replace(LINE, '').replace(/^\(held in this run\) /, ''))
    else if (current !== undefined && line.startsWith('  '))
      reasons.set(current, `${reasons.get(current) ?? ''} ${line.trim()}`)
  }
  return reasons
}
