import { spawn } from 'node:child_process'
import { milliseconds } from '../domain/instant.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { plural, quote, thereAre } from '../domain/text.ts'
import type { AccountView, ClockView, LinkView, ScenarioView, SentEvent, WebhookView } from '../library/types.ts'
import { browserCommand } from '../platform.ts'
import type { CommandContext } from './command.ts'
import { chosenAction, type ControlSession, controlSession, noOperand, oneOperand } from './control-session.ts'
import { RefusedError, UsageError } from './failure.ts'
import type { ControlCommandName } from './flags.ts'
import type { Style } from './paint.ts'
import { tableText } from './table.ts'

type Action<Name extends ControlCommandName> = (
  session: ControlSession<Name>,
  operands: readonly string[],
) => Promise<void>
type Actions<Name extends ControlCommandName> = Readonly<Record<string, Action<Name>>>

async function act<Name extends ControlCommandName>(
  session: ControlSession<Name>,
  command: Name,
  first: string,
  actions: Actions<Name>,
): Promise<number> {
  const [name = first, ...operands] = session.operands
  await chosenAction(command, name, actions)(session, operands)
  return 0
}

export async function links(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('links', argv, context)
  const decide = (decision: 'approve' | 'deny'): Action<'links'> => {
    return async ({ call, print, values }, operands) => {
      const { id, connector, identifier } = await chosenLink(session, decision, operands)
      const answer = await call('POST /links/{id}/complete', { path: { id }, body: { decision, as: values.as } })
      const done = decision === 'approve' ? 'approved' : 'denied'
      const next = `A browser would go to ${answer.redirect_url}`
      print(answer, () => `${done} the link of ${identifier} at ${connector}. ${next}`)
    }
  }
  const actions = { list: listLinks, open: openLink, approve: decide('approve'), deny: decide('deny') }
  const [action] = session.operands
  if (session.values.as !== undefined && action !== 'approve' && action !== 'deny') {
    throw new UsageError('--as goes with links approve and links deny.')
  }
  return act(session, 'links', 'list', actions)
}

async function listLinks(session: ControlSession<'links'>, operands: readonly string[]): Promise<void> {
  noOperand('links list', operands)
  const { call, print, terminal } = session
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

async function openLink(session: ControlSession<'links'>, operands: readonly string[]): Promise<void> {
  const link = await chosenLink(session, 'open', operands)
  const isOpened = await openBrowser(link.link, session.variables['BROWSER'])
  session.print(link, () =>
    isOpened ? link.link : `${link.link}\nno browser could be started: open the link yourself`,
  )
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
  action: string,
  operands: readonly string[],
): Promise<LinkView> {
  const [wanted, ...more] = operands
  if (more.length > 0) throw new UsageError(`links ${action} takes one LINK.`)
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
  return act(session, 'accounts', 'list', {
    list: listAccounts,
    expire: accountEvent('expire'),
    disconnect: accountEvent('disconnect'),
    revoke_refresh_token: accountEvent('revoke_refresh_token'),
    expire_access_token: accountEvent('expire_access_token'),
  })
}

async function listAccounts(session: ControlSession<'accounts'>, operands: readonly string[]): Promise<void> {
  noOperand('accounts list', operands)
  const { call, print, terminal, values } = session
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

type AccountEvent = 'expire' | 'disconnect' | 'revoke_refresh_token' | 'expire_access_token'

function accountEvent(event: AccountEvent): Action<'accounts'> {
  return async (session, operands) => {
    const wanted = oneOperand(`accounts ${event}`, 'ACCOUNT', operands)
    const answer = await session.call('POST /accounts/{id}/{event}', { path: { id: wanted, event } })
    const { id, connector, identifier, status } = answer.account
    session.print(answer, () => `${event}: account ${id} of ${identifier} at ${connector} is ${status}`)
  }
}

export async function clock(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('clock', argv, context)
  const { call, print } = session
  const show = (answer: ClockView): void => {
    print(answer, () => `${answer.now}, ${answer.frozen ? 'frozen' : 'running'}`)
  }
  const freeze = (action: string, frozen: boolean): Action<'clock'> => {
    return async (_, operands) => {
      noOperand(`clock ${action}`, operands)
      show(await call('PUT /clock', { body: { frozen } }))
    }
  }
  return act(session, 'clock', 'show', {
    show: async (_, operands) => {
      noOperand('clock show', operands)
      show(await call('GET /clock'))
    },
    advance: async (_, operands) => {
      const advance = oneOperand('clock advance', 'DURATION, such as 90s or 2h', operands)
      show(await call('PUT /clock', { body: { advance } }))
    },
    set: async (_, operands) => {
      const now = oneOperand('clock set', 'INSTANT, such as 2026-01-31T12:00:00Z', operands)
      show(await call('PUT /clock', { body: { now } }))
    },
    freeze: freeze('freeze', true),
    run: freeze('run', false),
  })
}

export async function scenario(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('scenario', argv, context)
  const { call, print } = session
  const nameOf = (action: string, operands: readonly string[]) => ({
    name: oneOperand(`scenario ${action}`, 'NAME', operands),
  })
  const [action] = session.operands
  if (session.values.request !== undefined && action !== 'from')
    throw new UsageError('--request goes with scenario from.')
  return act(session, 'scenario', 'list', {
    list: listScenarios,
    from: async (_, operands) => (await import('./scenario-from.ts')).scenarioFrom(session, operands),
    start: async (_, operands) => {
      const answer = await call('POST /scenarios/{name}/start', { path: nameOf('start', operands) })
      print(answer, () => `${answer.scenario.name} runs: ${answer.scenario.description}`)
    },
    stop: async (_, operands) => {
      const answer = await call('POST /scenarios/{name}/stop', { path: nameOf('stop', operands) })
      print(
        answer,
        () => `${answer.scenario.name} does not run any more; its rules fired ${times(hitsOf(answer.scenario))}`,
      )
    },
  })
}

async function listScenarios(session: ControlSession<'scenario'>, operands: readonly string[]): Promise<void> {
  const { call, print, terminal } = session
  const answer = await call('GET /scenarios')
  if (operands.length > 0) {
    showScenario(session, answer.scenarios, oneOperand('scenario list', 'NAME', operands))
    return
  }
  print(answer, () =>
    tableText<ScenarioView>(
      [
        { title: 'NAME', cell: ({ name }) => name },
        {
          title: 'STATE',
          cell: (each) => (each.started ? stateOf(each) : ''),
          style: ({ running }) => (running ? 'green' : 'dim'),
        },
        { title: 'FIRED', cell: (each) => (each.started ? String(hitsOf(each)) : '') },
        { title: 'DESCRIPTION', wraps: true, cell: ({ description }) => description },
      ],
      answer.scenarios,
      terminal,
    ),
  )
}

function showScenario(
  { print, terminal }: ControlSession<'scenario'>,
  all: readonly ScenarioView[],
  name: string,
): void {
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

function stateOf({ running, started, state }: ScenarioView): string {
  if (running) return state === null ? 'runs' : `runs: ${state}`
  return started ? 'stopped' : 'not started'
}

function hitsOf({ rules }: ScenarioView): number {
  return rules.reduce((sum, { hits }) => sum + hits, 0)
}

function times(count: number): string {
  return plural(count, 'time')
}

export async function snapshot(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('snapshot', argv, context)
  const { call, print, terminal } = session
  const pathOf = (action: string, operands: readonly string[]) => ({
    name: oneOperand(`snapshot ${action}`, 'NAME', operands),
  })
  return act(session, 'snapshot', 'list', {
    list: async (_, operands) => {
      noOperand('snapshot list', operands)
      const answer = await call('GET /snapshots')
      const columns = [
        { title: 'NAME', cell: ({ name }: { name: string }) => name },
        { title: 'TAKEN AT', cell: ({ taken_at }: { taken_at: string }) => taken_at },
      ]
      print(answer, () =>
        answer.snapshots.length === 0 ? 'there is no snapshot' : tableText(columns, answer.snapshots, terminal),
      )
    },
    save: async (_, operands) => {
      const answer = await call('PUT /snapshots/{name}', { path: pathOf('save', operands) })
      print(answer, () => `saved snapshot ${answer.name} as of ${answer.taken_at}`)
    },
    restore: async (_, operands) => {
      const path = pathOf('restore', operands)
      const answer = await call('POST /snapshots/{name}/restore', { path })
      print(answer, () => `restored snapshot ${path.name}: model, settings and clock are as they were saved`)
    },
    delete: async (_, operands) => {
      const path = pathOf('delete', operands)
      const answer = await call('DELETE /snapshots/{name}', { path })
      print(answer, () => `deleted snapshot ${path.name}`)
    },
  })
}

export async function webhooks(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('webhooks', argv, context)
  const { call, print } = session
  const show = (answer: SentEvent): void =>
    print(answer, () => `${answer.event} (${answer.type}) is sent to ${answer.webhooks.join(', ')}`)
  return act(session, 'webhooks', 'list', {
    list: listWebhooks,
    send: async (_, [given = '', account, ...more]) => {
      if (given === '' || more.length > 0)
        throw new UsageError('webhooks send takes one TYPE, and may take one ACCOUNT.')
      const type = (given.includes('.') ? given : `connected_account.${given}`) as SentEvent['type']
      show(await call('POST /webhook-events', { body: { type, ...(account !== undefined && { account }) } }))
    },
    resend: async (_, operands) => {
      const id = oneOperand('webhooks resend', 'EVENT', operands)
      show(await call('POST /webhook-events/{id}/resend', { path: { id } }))
    },
  })
}

async function listWebhooks(session: ControlSession<'webhooks'>, operands: readonly string[]): Promise<void> {
  noOperand('webhooks list', operands)
  const { call, print, terminal } = session
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
  noOperand('reset', session.operands)
  const { seed: path, environment } = session.values
  if (path === undefined) {
    const answer = await session.call('POST /reset')
    session.print(answer, () => `environment ${environment} is back at its seed`)
    return 0
  }
  const [{ seedDocument }, { BUNDLED, bundledSeedFolder }, { documentChecks }] = await Promise.all([
    import('../documents/seed-files.ts'),
    import('../documents/load-seeds.ts'),
    import('../app/document-checks.ts'),
  ])
  // The server allows or refuses what its --allow-outbound is about.
  const seed = await seedDocument(path === BUNDLED ? bundledSeedFolder() : path, documentChecks(true))
  const answer = await session.call('POST /reset', { body: { seed } })
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
