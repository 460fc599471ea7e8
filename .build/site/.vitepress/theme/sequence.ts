/** A message between two participants, a note, or the begin of a part of `alt`. */
export interface Step {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly kind: 'call' | 'answer' | 'note' | 'part'
}

export interface Sequence {
  readonly actors: readonly string[]
  readonly steps: readonly Step[]
}

/** Reads a `sequenceDiagram` of Mermaid, as far as the guides use it. */
export function readSequence(source: string): Sequence {
  const names: string[] = []
  const actors: string[] = []
  const steps: Step[] = []
  const at = (name: string): number => names.indexOf(name)
  for (const line of source.split('\n').map((each) => each.trim())) {
    const [, name, label] = /^participant (\w+)(?: as (.+))?$/.exec(line) ?? []
    const [, from, arrow, to, text] = /^(\w+)(-->>|->>)(\w+): (.+)$/.exec(line) ?? []
    const [, over, note] = /^Note over (\w+): (.+)$/.exec(line) ?? []
    const [, part] = /^(?:alt|else) (.+)$/.exec(line) ?? []
    if (name !== undefined) {
      names.push(name)
      actors.push(label ?? name)
    } else if (from !== undefined && to !== undefined && text !== undefined)
      steps.push({ from: at(from), to: at(to), text, kind: arrow === '-->>' ? 'answer' : 'call' })
    else if (over !== undefined && note !== undefined)
      steps.push({ from: at(over), to: at(over), text: note, kind: 'note' })
    else if (part !== undefined) steps.push({ from: 0, to: names.length - 1, text: part, kind: 'part' })
  }
  return { actors, steps }
}
