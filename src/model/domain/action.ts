/** How what can be done now is done: by a call of the control API, and by a command or a tool of the control server that make it. */
export interface ActionWay {
  /** What follows the name of the program. */
  readonly command?: readonly string[]
  readonly tool?: { readonly name: string; readonly arguments: Readonly<Record<string, string>> }
  readonly call: readonly [method: string, path: readonly string[], body?: object]
}

const WAYS: Readonly<Record<string, (target: string) => ActionWay>> = {
  stop_scenario: (name) => ({
    command: ['scenario', 'stop', name],
    tool: { name: 'stop_scenario', arguments: { name } },
    call: ['POST', ['scenarios', name, 'stop']],
  }),
  approve_link: (link) => ({
    command: ['links', 'approve', link],
    tool: { name: 'complete_link', arguments: { link, decision: 'approve' } },
    call: ['POST', ['links', link, 'complete'], { decision: 'approve' }],
  }),
  set_clock: (now) => ({
    command: ['clock', 'set', now],
    tool: { name: 'set_clock', arguments: { now } },
    call: ['PUT', ['clock'], { now }],
  }),
  enable_connection: (id) => ({ call: ['POST', ['connections', id, 'enable']] }),
  reset: () => ({ command: ['reset'], tool: { name: 'reset', arguments: {} }, call: ['POST', ['reset']] }),
}

interface Action {
  readonly action: string
  readonly target: string | null
  readonly text: string
}

/** Undefined for what only the program under test can do, such as to send another request. */
export function wayOf({ action, target }: Pick<Action, 'action' | 'target'>): ActionWay | undefined {
  return Object.hasOwn(WAYS, action) ? WAYS[action]?.(target ?? '') : undefined
}

/** An explanation with how each of its actions is done below it; undefined leaves the action out. */
export function withWays(
  { text, actions }: { readonly text: string; readonly actions: readonly Action[] },
  linesOf: (way: ActionWay) => readonly string[] | undefined,
): string[] {
  const ways = new Map(actions.map((action) => [`→ ${action.text}`, wayOf(action)]))
  return text.split('\n').flatMap((line) => {
    const way = ways.get(line)
    const lines = way ? linesOf(way) : []
    return lines ? [line, ...lines.map((each) => `  ${each}`)] : []
  })
}
