import { spawn } from 'node:child_process'
import { milliseconds } from '../domain/instant.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { plural, quote, thereAre } from '../domain/text.ts'
import type { AccountView, ClockView, LinkView, ScenarioView, SentEvent, WebhookView } from '../library/types.ts'
import { browserCommand } from '../platform.ts'
import type { CommandContext } from './command.ts'
import { chosenAction, type ControlSession, controlSession, oneOperand } from './control-session.ts'
import { RefusedError, UsageError } from './failure.ts'
import type { ControlCommandName } from './command-table.ts'
import type { Style } from './paint.ts'
import { withProgress } from './progress.ts'
import { tableText } from './table.ts'

/** An action of a command, with what follows its name; `what` is the command with that name. */
type Action = (operands: readonly string[], what: string) => Promise<void>

const none =
  (run: () => Promise<void>): Action =>
  (operands, what) => {
    if (operands.length > 0) throw new UsageError(`${what} takes no ${operands.join(' ')}.`)
    return run()
  }
const one =
  (operand: string, run: (given: string) => Promise<void>): Action =>
  (operands, what) =>
    run(oneOperand(what, operand, operands))

async function act(
  { operands: [named, ...operands] }: Pick<ControlSession<'logs'>, 'operands'>,
  command: ControlCommandName,
  actions: Readonly<Record<string, Action>>,
): Promise<number> {
  const [first = ''] = Object.keys(actions)
  const name = named ?? first
  await chosenAction(command, name, actions)(operands, `${command} ${name}`)
  return 0
}

export async function links(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('links', argv, context)
  const { call, print, values, operands } = session
  const decide =
    (decision: 'approve' | 'deny', done: string): Action =>
    async (named, what) => {
      const { id, connector, identifier } = await chosenLink(session, what, named)
      const answer = await call('POST /links/{id}/complete', { path: { id }, body: { decision, as: values.as } })
      const next = `A browser would go to ${answer.redirect_url}`
      print(answer, () => `${done} the link of ${identifier} at ${connector}. ${next}`)
    }
  if (values.as !== undefined && operands[0] !== 'approve' && operands[0] !== 'deny') {
    throw new UsageError('--as goes with links approve and links deny.')
  }
  return act(session, 'links', {
    list: none(() => listLinks(session)),
    open: async (named, what) => openLink(session, await chosenLink(session, what, named)),
    approve: decide('approve', 'approved'),
    deny: decide('deny', 'denied'),
  })
}

async function listLinks({ call, print, terminal }: ControlSession<'links'>): Promise<void> {
  const [answer, { now }] = [await call('GET /links'), await call('GET /clock')]
  print(answer, () =>
    answer.links.length === 0
      ? 'no magic link can be followed'
      : tableText<LinkView>(
          [
            { title: 'CONNECTOR', cell: ({ connector }) => connector },
            { title: 'IDENTIFIER', wraps: true, cell: ({ identifier }) => identifier },
            { title: 'EXPIRES', cell: ({ expiry }) => fromNow(expiry, now) },
            { title: 'LINK', below: true, cell: ({ link }) => link },
          ],
          answer.links,
          terminal,
        ),
  )
}

async function openLink({ print, variables }: ControlSession<'links'>, link: LinkView): Promise<void> {
  const isOpened = await openBrowser(link.link, variables['BROWSER'])
  print(link, () => (isOpened ? link.link : `${link.link}\nno browser could be started: open the link yourself`))
}

async function openBrowser(url: string, browser: string | undefined): Promise<boolean> {
  const [program, ...args] = browser === undefined || browser === '' ? browserCommand() : [browser]
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' })
  child.unref()
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(true))
    child.once('error', () => resolve(false))
  })
}

/** The link that an operand names by id, address or identifier; the only one without an operand. @throws UsageError, RefusedError */
async function chosenLink(
  { call, values }: ControlSession<'links'>,
  what: string,
  [wanted, ...more]: readonly string[],
): Promise<LinkView> {
  if (more.length > 0) throw new UsageError(`${what} takes one LINK.`)
  const { links: open } = await call('GET /links')
  const found = open.filter((each) => wanted === undefined || [each.id, each.link, each.identifier].includes(wanted))
  const [link] = found
  if (!link) {
    const which = wanted === undefined ? 'no magic link' : `no magic link ${wanted}`
    throw new RefusedError(`${which} can be followed in environment ${values.environment}`)
  }
  if (found.length > 1) {
    const known = found.map(({ id, connector, identifier }) => `\n  ${id}  ${connector} ${identifier}`).join('')
    throw new RefusedError(`${plural(found.length, 'magic link')} can be followed; name one of them:${known}`)
  }
  return link
}

export async function accounts(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('accounts', argv, context)
  const { call, print } = session
  const apply = (event: AccountEvent): Action =>
    one('ACCOUNT', async (wanted) => {
      const answer = await call('POST /accounts/{id}/{event}', { path: { id: wanted, event } })
      const { id, connector, identifier, status } = answer.account
      print(answer, () => `${event}: account ${id} of ${identifier} at ${connector} is ${status}`)
    })
  return act(session, 'accounts', {
    list: none(() => listAccounts(session)),
    expire: apply('expire'),
    disconnect: apply('disconnect'),
    revoke_refresh_token: apply('revoke_refresh_token'),
    expire_access_token: apply('expire_access_token'),
  })
}

type AccountEvent = 'expire' | 'disconnect' | 'revoke_refresh_token' | 'expire_access_token'

async function listAccounts({ call, print, terminal, values }: ControlSession<'accounts'>): Promise<void> {
  const answer = await call('GET /accounts', { query: { query: values.query, limit: values.limit } })
  const { now } = await call('GET /clock')
  const { accounts: found, total_size: total } = answer
  print(answer, () => {
    if (found.length === 0) return values.query === undefined ? 'there is no account' : 'no account matches'
    const table = tableText<AccountView>(
      [
        { title: 'CONNECTOR', wraps: true, cell: ({ connector }) => connector },
        { title: 'IDENTIFIER', wraps: true, cell: ({ identifier }) => identifier },
        { title: 'STATUS', cell: ({ status }) => status, style: ({ status }) => STATUS_STYLES[status] },
        { title: 'TOKEN EXPIRES', cell: (each) => tokenExpiry(each, now) },
        { title: 'ACCOUNT', below: true, cell: ({ id }) => id },
      ],
      found,
      terminal,
    )
    const more = `${found.length} of ${plural(total, 'account')}; --limit N shows more, --query TEXT selects`
    return found.length < total ? `${table}\n${more}` : table
  })
}

const STATUS_STYLES: Readonly<Record<string, Style>> = { ACTIVE: 'green', EXPIRED: 'yellow', DISCONNECTED: 'red' }

function tokenExpiry({ token_expires_at }: AccountView, now: string): string {
  return token_expires_at === undefined ? '' : fromNow(token_expires_at, now)
}

export async function clock(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('clock', argv, context)
  const { call, print } = session
  const show = (answer: ClockView): void => {
    print(answer, () => `${answer.now}, ${answer.frozen ? 'frozen' : 'running'}`)
  }
  const put = async (body: { frozen: boolean } | { advance: string } | { now: string }): Promise<void> =>
    show(await call('PUT /clock', { body }))
  return act(session, 'clock', {
    show: none(async () => show(await call('GET /clock'))),
    advance: one('DURATION, such as 90s or 2h', (advance) => put({ advance })),
    set: one('INSTANT, such as 2026-01-31T12:00:00Z', (now) => put({ now })),
    freeze: none(() => put({ frozen: true })),
    run: none(() => put({ frozen: false })),
  })
}

export async function scenario(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('scenario', argv, context)
  const { call, print, values, operands } = session
  if (values.request !== undefined && operands[0] !== 'from') throw new UsageError('--request goes with scenario from.')
  return act(session, 'scenario', {
    list: async (named, what) =>
      named.length === 0 ? listScenarios(session) : showScenario(session, oneOperand(what, 'NAME', named)),
    from: async (named) => (await import('./scenario-from.ts')).scenarioFrom(session, named),
    start: one('NAME', async (name) => {
      const answer = await call('POST /scenarios/{name}/start', { path: { name } })
      print(answer, () => `${answer.scenario.name} is running: ${answer.scenario.description}`)
    }),
    stop: one('NAME', async (name) => {
      const answer = await call('POST /scenarios/{name}/stop', { path: { name } })
      const times = plural(hitsOf(answer.scenario), 'time')
      print(answer, () => `${answer.scenario.name} is stopped; its rules fired ${times}`)
    }),
  })
}

async function listScenarios({ call, print, terminal }: ControlSession<'scenario'>): Promise<void> {
  const answer = await call('GET /scenarios')
  print(answer, () =>
    tableText<ScenarioView>(
      [
        { title: 'NAME', cell: ({ name }) => name },
        {
          title: 'STATE',
          cell: (each) => (each.started ? stateOf(each) : ''),
          style: ({ running, spent }) => (running && !spent ? 'green' : 'dim'),
        },
        { title: 'FIRED', cell: (each) => (each.started ? String(hitsOf(each)) : '') },
        { title: 'DESCRIPTION', wraps: true, cell: ({ description }) => description },
      ],
      answer.scenarios,
      terminal,
    ),
  )
}

async function showScenario({ call, print, terminal }: ControlSession<'scenario'>, name: string): Promise<void> {
  const { scenarios: all } = await call('GET /scenarios')
  const found = all.find((each) => each.name === name)
  if (!found) {
    const names = all.map((each) => each.name)
    throw new RefusedError(
      `there is no scenario ${quote(name)}${didYouMean(name, names)}; ${thereAre(names, 'none is defined')}`,
    )
  }
  print(found, () => {
    const table = tableText<ScenarioView['rules'][number]>(
      [
        { title: 'RULE', wraps: true, cell: (rule) => rule.name },
        { title: 'AT', cell: ({ at }) => at },
        { title: 'MATCHED', cell: ({ matched }) => String(matched) },
        { title: 'FIRED', cell: ({ hits }) => String(hits) },
        { title: 'WHAT IT DOES', wraps: true, cell: ({ sentence }) => sentence },
      ],
      found.rules,
      terminal,
    )
    return `${found.name} (${stateOf(found)}): ${found.description}\n\n${table}`
  })
}

/** In the words of the dashboard. */
function stateOf({ running, spent, started, state }: ScenarioView): string {
  const word = spent ? 'spent' : 'running'
  if (running) return state === null ? word : `${word}: ${state}`
  return started ? 'stopped' : 'not started'
}

function hitsOf({ rules }: ScenarioView): number {
  return rules.reduce((sum, { hits }) => sum + hits, 0)
}

export async function snapshot(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('snapshot', argv, context)
  const { call, print, terminal } = session
  return act(session, 'snapshot', {
    list: none(async () => {
      const answer = await call('GET /snapshots')
      const columns = [
        { title: 'NAME', cell: ({ name }: { name: string }) => name },
        { title: 'TAKEN AT', cell: ({ taken_at }: { taken_at: string }) => taken_at },
      ]
      print(answer, () =>
        answer.snapshots.length === 0 ? 'there is no snapshot' : tableText(columns, answer.snapshots, terminal),
      )
    }),
    save: one('NAME', async (name) => {
      const answer = await call('PUT /snapshots/{name}', { path: { name } })
      print(answer, () => `saved snapshot ${answer.name} as of ${answer.taken_at}`)
    }),
    restore: one('NAME', async (name) => {
      const answer = await call('POST /snapshots/{name}/restore', { path: { name } })
      print(answer, () => `restored snapshot ${name}: model, settings and clock are as they were saved`)
    }),
    delete: one('NAME', async (name) => {
      const answer = await call('DELETE /snapshots/{name}', { path: { name } })
      print(answer, () => `deleted snapshot ${name}`)
    }),
  })
}

export async function webhooks(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('webhooks', argv, context)
  const { call, print } = session
  const show = (answer: SentEvent): void =>
    print(answer, () => `${answer.event} (${answer.type}) is sent to ${answer.webhooks.join(', ')}`)
  return act(session, 'webhooks', {
    list: none(() => listWebhooks(session)),
    send: async ([given = '', account, ...more]) => {
      if (given === '' || more.length > 0)
        throw new UsageError('webhooks send takes one TYPE, and may take one ACCOUNT.')
      const type = (given.includes('.') ? given : `connected_account.${given}`) as SentEvent['type']
      show(await call('POST /webhook-events', { body: { type, ...(account !== undefined && { account }) } }))
    },
    resend: one('EVENT', async (id) => show(await call('POST /webhook-events/{id}/resend', { path: { id } }))),
  })
}

async function listWebhooks({ call, print, terminal }: ControlSession<'webhooks'>): Promise<void> {
  const [answer, { now }] = [await call('GET /webhooks'), await call('GET /clock')]
  print(answer, () =>
    answer.webhooks.length === 0
      ? 'there is no webhook (PUT /_mock/webhooks/{name}, or webhooks in a seed)'
      : tableText<WebhookView>(
          [
            { title: 'NAME', cell: ({ name }) => name },
            { title: 'URL', wraps: true, cell: ({ url }) => url },
            { title: 'EVENTS', cell: ({ types }) => String(types.length) },
            { title: 'WAITING', cell: ({ waiting }) => String(waiting) },
            { title: 'NEXT ATTEMPT', cell: ({ next_attempts: [next] }) => (next ? fromNow(next.at, now) : '') },
          ],
          answer.webhooks,
          terminal,
        ),
  )
}

export async function reset(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('reset', argv, context)
  const { seed: path, environment } = session.values
  if (path === undefined) {
    const answer = await withProgress(context, `Resetting ${environment}`, () => session.call('POST /reset'))
    session.print(answer, () => `environment ${environment} is back at its seed`)
    return 0
  }
  const [{ seedDocument }, { documentChecks }] = await Promise.all([
    import('../documents/seed-files.ts'),
    import('../app/document-checks.ts'),
  ])
  // The server allows or refuses what its --allow-outbound is about.
  const seed = await seedDocument(path, documentChecks(true))
  const resets = () => session.call('POST /reset', { body: { seed } })
  const answer = await withProgress(context, `Resetting ${environment}`, resets)
  session.print(
    answer,
    () => `environment ${environment} is at the seed ${path}, and every later reset goes back to it`,
  )
  return 0
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `in 59m`, `2h 5m ago`: an instant as seen from another, in its two largest units. */
function fromNow(at: string, now: string): string {
  const distance = milliseconds(at) - milliseconds(now)
  let rest = Math.abs(distance)
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [`${count}${unit}`]
  })
  const text = parts.slice(0, 2).join(' ')
  if (text === '') return 'now'
  return distance > 0 ? `in ${text}` : `${text} ago`
}
