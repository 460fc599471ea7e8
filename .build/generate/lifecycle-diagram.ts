import { LIFECYCLE_STATES, MOVES } from '../../src/model/domain/lifecycle.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const ACCOUNTS = 'docs/accounts.md'

/** The lifecycle of connected accounts as a diagram, made from the table that the code uses. */
export const lifecycleDiagram: Step = {
  name: 'lifecycle diagram',
  inputs: ['src/model/domain/lifecycle.ts'],
  outputs: [ACCOUNTS],
  make: (root) => markedSection(root, ACCOUNTS, 'lifecycle', `\`\`\`mermaid\n${diagram()}\n\`\`\``),
}

/** Moves that an event makes from every state are one arrow. With an arrow for each move the diagram is unreadable. */
function diagram(): string {
  const arrows = new Map<string, Set<string>>()
  for (const { from, event, to } of MOVES) {
    const isFromAny = MOVES.filter((move) => move.event === event && move.to === to).length === STATES_OF_ACCOUNTS
    const arrow = `${isFromAny ? 'any' : from === 'none' ? '[*]' : from} --> ${to === 'none' ? 'gone' : to}`
    arrows.set(arrow, (arrows.get(arrow) ?? new Set()).add(event))
  }
  const lines = [...arrows].map(([arrow, events]) => `${arrow}: ${[...events].join(', ')}`)
  return ['stateDiagram-v2', 'state "any state" as any', 'state "(none)" as gone', ...lines].join('\n    ')
}

/** All but `none`. */
const STATES_OF_ACCOUNTS = LIFECYCLE_STATES.length - 1
