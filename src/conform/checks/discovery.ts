import { isJsonObject, type JsonValue, own } from '../../domain/json.ts'
import { type Answer, must, same, Skipped } from '../answer.ts'
import { type Check, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { Query } from '../target.ts'

/** Discovery: what clients call before they execute anything. A target that does not serve it is not judged by it. */
export const DISCOVERY_CHECKS: readonly Check[] = [
  ...checksOf('list_tools', [
    check('tools', 'tools are listed with name and input schema', async (context) => {
      const answer = await ask(context, '/tools')
      for (const tool of answer.objects('tools')) {
        for (const field of ['id', 'provider']) same(typeof own(tool, field), 'string', `the type of ${field}`)
      }
      answer.string('tools.0.definition.name')
      answer.object('tools.0.definition.input_schema')
      must(Number.isInteger(answer.at('total_size')), 'a total_size', answer.at('total_size'))
    }),
    check('tools-of-provider', 'filter.provider leaves the tools of one provider', async (context) => {
      const { name } = await context.offer.main()
      const answer = await ask(context, '/tools', { 'filter.provider': name, page_size: 100 })
      for (const tool of answer.objects('tools')) same(own(tool, 'provider'), name, 'the provider of a tool')
    }),
    check('tools-by-name', 'filter.tool_name may be repeated', async (context) => {
      const all = await ask(context, '/tools')
      const names = all
        .objects('tools')
        .map((_, index) => all.string(`tools.${index}.definition.name`))
        .slice(0, 2)
      const answer = await ask(context, '/tools', { 'filter.tool_name': names })
      same(answer.at('total_size'), names.length, 'the number of tools')
    }),
    check('tool-names', 'filter.summary=true answers names only', async (context) => {
      const answer = await ask(context, '/tools', { 'filter.summary': 'true' })
      answer.string('tool_names.0')
      answer.lacks('tools')
    }),
    check('tools-pages', 'page tokens lead through every tool once', async (context) => {
      const { items, total } = await everyPage(context, '/tools', 'tool_names', { 'filter.summary': 'true' })
      same(items.length, total, 'the number of tools on all pages')
      same(new Set(items).size, items.length, 'the number of different tools')
    }),
  ]),
  ...checksOf('list_scoped_tools', [
    check('scoped', 'scoped tools are those of the active accounts of an identifier', async (context) => {
      const account = await context.shared('account', (fresh) => fresh.active())
      const answer = await ask(context, '/tools/scoped', { identifier: account.identifier })
      answer.has('tools.0.identifier', account.identifier).has('tools.0.connected_account_id', account.id)
    }),
    check('scoped-pending', 'an account that is not ACTIVE has no scoped tools', async (context) => {
      const account = await context.account()
      same((await ask(context, '/tools/scoped', { identifier: account.identifier })).list('tools'), [], 'the tools')
    }),
    check('scoped-identifier', 'scoped tools without an identifier are a 400', async (context) => {
      await ask(context, '/tools')
      ;(await context.api.get('/tools/scoped')).is(400)
    }),
  ]),
  ...checksOf('list_available_tools', [
    check('available', 'available tools name the account where there is one', async (context) => {
      const account = await context.shared('account', (fresh) => fresh.active())
      const query = { identifier: account.identifier, 'filter.providers': account.connector }
      const answer = await ask(context, '/tools/available', query)
      answer.has('tools.0.connected_account_id', account.id)
      const nobody = await ask(context, '/tools/available', { ...query, identifier: context.resources.identifier() })
      nobody.has('tools.0.connected_account_id', '')
    }),
  ]),
  ...checksOf('list_providers', [
    check('providers', 'providers are listed, and those of the service are not custom', async (context) => {
      const { name } = await context.offer.main()
      const answer = await ask(context, '/providers', { page_size: 100 })
      const provider = answer.objects('providers').find((each) => own(each, 'identifier') === name)
      same(provider && own(provider, 'is_custom'), false, `is_custom of provider ${name}`)
    }),
    check('providers-pages', 'page tokens lead through every provider once', async (context) => {
      const { items, total } = await everyPage(context, '/providers', 'providers')
      same(items.length, total, 'the number of providers on all pages')
      const identifiers = items.map((each) => isJsonObject(each) && own(each, 'identifier'))
      same(new Set(identifiers).size, items.length, 'the number of different providers')
    }),
  ]),
]

/** Follows the page tokens of a list to its end, seven items at a time. */
async function everyPage(context: CheckContext, path: string, member: string, query: Query = {}) {
  const items: JsonValue[] = []
  let [token, total]: [string | undefined, unknown] = [undefined, undefined]
  do {
    const answer = await ask(context, path, { ...query, page_size: 7, page_token: token })
    items.push(...answer.list(member))
    total = answer.at('total_size')
    const next = answer.at('next_page_token')
    token = typeof next === 'string' && next !== '' ? next : undefined
  } while (token !== undefined && items.length < 10_000)
  return { items, total }
}

/** @throws Skipped when the target does not serve Discovery */
async function ask({ api }: CheckContext, path: string, query: Query = {}): Promise<Answer> {
  const answer = await api.get(path, query)
  if (answer.status === 404 && answer.at('details.0.error_code') === 'PATH_NOT_FOUND')
    throw new Skipped('the target serves no Discovery')
  return answer.is(200)
}

function check(name: string, title: string, run: CheckEntry['run']): CheckEntry {
  return { id: `discovery/${name}`, title, basis: 'convention:Discovery', run }
}
