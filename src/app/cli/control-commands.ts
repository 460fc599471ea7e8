import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { milliseconds } from '../../model/domain/instant.ts'
import type { JsonObject } from '../../model/domain/json.ts'
import { firedText, isScenarioPath } from '../../model/domain/scenario.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { plural, quote, thereAre } from '../../model/domain/text.ts'
import type { AccountView, ClockView, LinkView, ScenarioView, SentEvent } from '../library/types.ts'
import { browserCommand } from '../../platform/platform.ts'
import type { Run } from './command.ts'
import { EVENT_COMMANDS } from './command-table.ts'
import {
  type CommandAction,
  actionCommand,
  type ControlSession,
  controlSession,
  oneOperand,
} from './control-session.ts'
import { RefusedError, UsageError } from './failure.ts'
import { withProgress } from './progress.ts'
import type { Style } from '../../platform/terminal.ts'

const none =
  (run: () => Promise<void>): CommandAction =>
  (operands, what) => {
    if (operands.length > 0) throw new UsageError(`${what} takes no ${operands.join(' ')}.`)
    return run()
  }
const one =
  (operand: string, run: (operandValue: string) => Promise<void>): CommandAction =>
  (operands, what) =>
    run(oneOperand(what, operand, operands))

export const links = actionCommand('links', (session) => {
  const { call, print, printTable, values, operands } = session
  const decide =
    (decision: 'approve' | 'deny', done: string): CommandAction =>
    async (operands, what) => {
      const { id, connector, identifier } = await chosenLink(session, what, operands)
      const body = { decision, as: values.as, scopes: values.scopes?.split(',').map((scope) => scope.trim()) }
      const response = await call('POST /links/{id}/complete', { path: { id }, body })
      const next = `A browser would go to ${response.redirect_url}`
      print(response, () => `${done} the link of ${identifier} at ${connector}. ${next}`)
    }
  if (values.as !== undefined && operands[0] !== 'approve' && operands[0] !== 'deny') {
    throw new UsageError('--as goes with links approve and links deny.')
  }
  if (values.scopes !== undefined && operands[0] !== 'approve')
    throw new UsageError('--scopes goes with links approve.')
  return {
    list: none(async () => {
      const [response, { now }] = [await call('GET /links'), await call('GET /clock')]
      printTable({ response, rows: response.links, empty: 'no magic link can be followed' }, [
        { title: 'CONNECTOR', cell: ({ connector }) => connector },
        { title: 'IDENTIFIER', wraps: true, cell: ({ identifier }) => identifier },
        { title: 'EXPIRES', cell: ({ expiry }) => fromNow(expiry, now) },
        { title: 'LINK', below: true, cell: ({ link }) => link },
      ])
    }),
    open: async (operands, what) => openLink(session, await chosenLink(session, what, operands)),
    approve: decide('approve', 'approved'),
    deny: decide('deny', 'denied'),
  }
})

async function openLink({ print, variables }: ControlSession<'links'>, link: LinkView): Promise<void> {
  const isOpened = await openBrowser(link.link, variables['BROWSER'])
  print(link, () => (isOpened ? link.link : `${link.link}\nno browser could be started: open the link yourself`))
}

async function openBrowser(url: string, browser: string | undefined): Promise<boolean> {
  const [program, ...args] = browser === undefined || browser === '' ? browserCommand() : [browser]
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' })
  child.unref()
  return once(child, 'spawn').then(
    () => true,
    () => false,
  )
}

/** The link that an operand names by id, address or identifier; the only one without an operand. @throws UsageError, RefusedError */
async function chosenLink(
  { call, values }: ControlSession<'links'>,
  what: string,
  [wanted, ...more]: readonly string[],
): Promise<LinkView> {
  if (more.length > 0) throw new UsageError(`${what} takes one LINK.`)
  const { links: open } = await call('GET /links')
  const matches = open.filter((each) => wanted === undefined || [each.id, each.link, each.identifier].includes(wanted))
  const [link] = matches
  if (!link) {
    const which = wanted === undefined ? 'no magic link' : `no magic link ${wanted}`
    throw new RefusedError(`${which} can be followed in environment ${values.environment}`)
  }
  if (matches.length > 1) {
    const choices = matches.map(({ id, connector, identifier }) => `\n  ${id}  ${connector} ${identifier}`).join('')
    throw new RefusedError(`${plural(matches.length, 'magic link')} can be followed; name one of them:${choices}`)
  }
  return link
}

export const accounts = actionCommand('accounts', (session) => {
  const { call, print } = session
  const apply = (event: (typeof EVENT_COMMANDS)[number]): CommandAction =>
    one('ACCOUNT', async (wanted) => {
      const response = await call('POST /accounts/{id}/{event}', { path: { id: wanted, event } })
      const { id, connector, identifier, status } = response.account
      print(response, () => `${event}: account ${id} of ${identifier} at ${connector} is ${status}`)
    })
  return {
    list: none(() => listAccounts(session)),
    ...Object.fromEntries(EVENT_COMMANDS.map((event) => [event, apply(event)])),
  }
})

async function listAccounts({ call, printTable, values }: ControlSession<'accounts'>): Promise<void> {
  const response = await call('GET /accounts', { query: { query: values.query, limit: values.limit } })
  const { now } = await call('GET /clock')
  const { accounts: listed, total_size: total } = response
  const empty = values.query === undefined ? 'there is no account' : 'no account matches'
  const more = `\n${listed.length} of ${plural(total, 'account')}; --limit N shows more, --query TEXT selects`
  printTable({ response, rows: listed, empty, after: listed.length < total ? more : '' }, [
    { title: 'CONNECTOR', wraps: true, cell: ({ connector }) => connector },
    { title: 'IDENTIFIER', wraps: true, cell: ({ identifier }) => identifier },
    { title: 'STATUS', cell: ({ status }) => status, style: ({ status }) => STATUS_STYLES[status] },
    { title: 'TOKEN EXPIRES', cell: (each) => tokenExpiry(each, now) },
    { title: 'ACCOUNT', below: true, cell: ({ id }) => id },
  ])
}

const STATUS_STYLES: Readonly<Record<string, Style>> = { ACTIVE: 'green', EXPIRED: 'yellow', DISCONNECTED: 'red' }

function tokenExpiry({ token_expires_at }: AccountView, now: string): string {
  return token_expires_at === undefined ? '' : fromNow(token_expires_at, now)
}

export const clock = actionCommand('clock', ({ call, print }) => {
  const show = (response: ClockView): void => {
    print(response, () => `${response.now}, ${response.frozen ? 'frozen' : 'running'}`)
  }
  const put = async (body: { frozen: boolean } | { advance: string } | { now: string }): Promise<void> =>
    show(await call('PUT /clock', { body }))
  return {
    show: none(async () => show(await call('GET /clock'))),
    advance: one('DURATION, such as 90s or 2h', (advance) => {
      if (!advance.startsWith('-')) return put({ advance })
      throw new UsageError(
        `clock advance ${advance} would go back: clock set INSTANT takes the clock to an earlier time.`,
      )
    }),
    set: one('INSTANT, such as 2026-01-31T12:00:00Z or 2026-01-31', (now) => put({ now })),
    freeze: none(() => put({ frozen: true })),
    run: none(() => put({ frozen: false })),
  }
})

export const scenario = actionCommand('scenario', (session) => {
  const { call, print, values, operands } = session
  if (values.request !== undefined && operands[0] !== 'from') throw new UsageError('--request goes with scenario from.')
  return {
    list: async (operands, what) =>
      operands.length === 0 ? listScenarios(session) : showScenario(session, oneOperand(what, 'NAME', operands)),
    from: async (operands) => (await import('./scenario-from.ts')).scenarioFrom(session, operands),
    start: one('NAME', async (name) => {
      if (isScenarioPath(name)) {
        throw new UsageError(
          `scenario start takes the name of a scenario, and ${name} is a file: PUT /_mock/scenarios/{name} brings one to a running server, start --scenario FILE to a new one.`,
        )
      }
      const response = await call('POST /scenarios/{name}/start', { path: { name } })
      print(response, () => `${response.scenario.name} is running${scenarioDescription(response.scenario)}`)
    }),
    stop: one('NAME', async (name) => {
      const response = await call('POST /scenarios/{name}/stop', { path: { name } })
      const times = plural(hitsOf(response.scenario), 'time')
      print(response, () => `${response.scenario.name} is stopped; its rules fired ${times}`)
    }),
  }
})

async function listScenarios({ call, printTable }: ControlSession<'scenario'>): Promise<void> {
  const response = await call('GET /scenarios')
  printTable({ response, rows: response.scenarios }, [
    { title: 'NAME', cell: ({ name }) => name },
    {
      title: 'STATE',
      cell: (each) => (each.started ? scenarioState(each) : ''),
      style: ({ running, spent }) => (running && !spent ? 'green' : 'dim'),
    },
    { title: 'FIRED', cell: (each) => (each.started ? String(hitsOf(each)) : '') },
    { title: 'DESCRIPTION', wraps: true, cell: ({ description }) => description },
  ])
}

async function showScenario({ call, printTable }: ControlSession<'scenario'>, name: string): Promise<void> {
  const { scenarios: all } = await call('GET /scenarios')
  const scenario = all.find((each) => each.name === name)
  if (!scenario) {
    const names = all.map((each) => each.name)
    throw new RefusedError(
      `there is no scenario ${quote(name)}${didYouMean(name, names)}; ${thereAre(names, 'none is defined')}`,
    )
  }
  const before = `${scenario.name} (${scenarioState(scenario)})${scenarioDescription(scenario)}\n\n`
  printTable({ response: scenario, rows: scenario.rules, before }, [
    { title: 'RULE', wraps: true, cell: (rule) => rule.name },
    { title: 'AT', cell: ({ at }) => at },
    { title: 'MATCHED', cell: ({ matched }) => String(matched) },
    { title: 'FIRED', wraps: true, cell: (rule) => firedText(name, rule) },
    { title: 'WHAT IT DOES', wraps: true, cell: ({ sentence }) => sentence },
  ])
}

function scenarioDescription({ description }: ScenarioView): string {
  return description && `: ${description}`
}

/** In the words of the dashboard. */
function scenarioState({ running, spent, started, state }: ScenarioView): string {
  const word = spent ? 'spent' : 'running'
  if (running) return state === null ? word : `${word}: ${state}`
  return started ? 'stopped' : 'not started'
}

function hitsOf({ rules }: ScenarioView): number {
  return rules.reduce((sum, { hits }) => sum + hits, 0)
}

export const snapshotCommand = actionCommand('snapshot', ({ call, print, printTable }) => ({
  list: none(async () => {
    const response = await call('GET /snapshots')
    printTable({ response, rows: response.snapshots, empty: 'there is no snapshot' }, [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'TAKEN AT', cell: ({ taken_at }) => taken_at },
    ])
  }),
  save: one('NAME', async (name) => {
    const response = await call('PUT /snapshots/{name}', { path: { name } })
    print(response, () => `saved snapshot ${response.name} as of ${response.taken_at}`)
  }),
  restore: one('NAME', async (name) => {
    const response = await call('POST /snapshots/{name}/restore', { path: { name } })
    print(response, () => `restored snapshot ${name}: model, settings and clock are as they were saved`)
  }),
  delete: one('NAME', async (name) => {
    const response = await call('DELETE /snapshots/{name}', { path: { name } })
    print(response, () => `deleted snapshot ${name}`)
  }),
}))

export const webhooks = actionCommand('webhooks', ({ call, print, printTable }) => {
  const show = (response: SentEvent): void =>
    print(response, () => `${response.event} (${response.type}) is sent to ${response.webhooks.join(', ')}`)
  return {
    list: none(async () => {
      const [response, { now }] = [await call('GET /webhooks'), await call('GET /clock')]
      const empty = 'there is no webhook (PUT /_mock/webhooks/{name}, or webhooks in a seed)'
      printTable({ response, rows: response.webhooks, empty }, [
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'URL', wraps: true, cell: ({ url }) => url },
        { title: 'EVENTS', cell: ({ types }) => String(types.length) },
        { title: 'WAITING', cell: ({ waiting }) => String(waiting) },
        {
          title: 'NEXT ATTEMPT',
          cell: ({ next_attempts: [next] }) => (next ? fromNow(next.at, next.at < now ? next.at : now) : ''),
        },
      ])
    }),
    send: async ([eventType = '', account, ...more]) => {
      if (eventType === '' || more.length > 0)
        throw new UsageError('webhooks send takes one TYPE, and may take one ACCOUNT.')
      const type = (eventType.includes('.') ? eventType : `connected_account.${eventType}`) as SentEvent['type']
      show(await call('POST /webhook-events', { body: { type, ...(account !== undefined && { account }) } }))
    },
    resend: one('EVENT', async (id) => show(await call('POST /webhook-events/{id}/resend', { path: { id } }))),
  }
})

export const reset: Run<'reset'> = async (args, context) => {
  const { call, print, values } = controlSession(args, context)
  const { seed: path, environment } = values
  const request = path === undefined ? {} : { body: { seed: await seedAt(path) } }
  const response = await withProgress(context, `Resetting ${environment}`, () => call('POST /reset', request))
  const now = path === undefined ? 'back at its seed' : `at the seed ${path}, and every later reset goes back to it`
  print(response, () => `environment ${environment} is ${now}`)
}

async function seedAt(path: string): Promise<JsonObject> {
  const { seedDocument } = await import('../../files/seed-files.ts')
  const { documentChecks } = await import('../document-checks.ts')
  // The server allows or refuses what its --allow-outbound is about.
  return seedDocument(path, documentChecks(true))
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
  let remainder = Math.abs(distance)
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = Math.floor(remainder / size)
    remainder -= count * size
    return count === 0 ? [] : [`${count}${unit}`]
  })
  const text = parts.slice(0, 2).join(' ')
  if (text === '') return 'now'
  return distance > 0 ? `in ${text}` : `${text} ago`
}
