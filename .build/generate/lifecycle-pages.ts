import {
  LIFECYCLE_EVENTS,
  LIFECYCLE_STATES,
  type LifecycleState,
  type Move,
  MOVES,
} from '../../src/model/domain/lifecycle.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const ACCOUNTS = 'docs/accounts.md'
const FIDELITY = 'docs/fidelity.md'

/** The lifecycle of connected accounts as a table and a diagram, made from the table that the code uses. */
export const lifecyclePages: Step = {
  name: 'lifecycle pages',
  inputs: ['src/model/domain/lifecycle.ts'],
  outputs: [ACCOUNTS, FIDELITY],
  make: async (root) =>
    new Map([
      ...(await markedSection(root, ACCOUNTS, 'lifecycle', `${fence(diagram())}\n\n${movesTable()}`)),
      ...(await markedSection(root, FIDELITY, 'lifecycle', movesTable())),
    ]),
}

function fence(source: string): string {
  return `\`\`\`mermaid\n${source}\n\`\`\``
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

/** One row for each event and target, the states it moves from together. */
function movesTable(): string {
  const rows = new Map<string, Move[]>()
  for (const move of MOVES) {
    const key = `${move.event} ${move.to} ${move.basis}`
    rows.set(key, [...(rows.get(key) ?? []), move])
  }
  const lines = [...rows.values()].map((moves) => {
    const [{ event, to, basis }] = moves as [Move, ...Move[]]
    const from = moves.map((move) => shown(move.from))
    return `| ${from.length === STATES_OF_ACCOUNTS ? 'any' : from.join(', ')} | ${event} | ${LIFECYCLE_EVENTS[event]} | ${shown(to)} | ${basis} |`
  })
  return ['| from | event | when | to | basis |', '| --- | --- | --- | --- | --- |', ...lines].join('\n')
}

function shown(state: LifecycleState): string {
  return state === 'none' ? '(none)' : `\`${state}\``
}
