import { jsonText, ownMember, textOf } from '../../../model/domain/json.ts'
import { valueAt } from '../../../model/domain/value-match.ts'
import { type ServiceResponse, everyPage, must, equal } from '../service-response.ts'
import { type Check, type CheckRun, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { QueryParameters } from '../target.ts'

/** Discovery: what clients call before they execute anything. A target that does not serve it is not judged by it. */
export const DISCOVERY_CHECKS: readonly Check[] = [
  ...checksOf('discovery', 'list_tools', {
    'tools (convention:Discovery): tools are listed with name and input schema': async (context) => {
      const response = await discoveryResponse(context, '/tools')
      for (const tool of response.objects('tools')) {
        for (const field of ['id', 'provider']) equal(typeof ownMember(tool, field), 'string', `the type of ${field}`)
      }
      response.string('tools.0.definition.name')
      response.object('tools.0.definition.input_schema')
      must(Number.isInteger(response.at('total_size')), 'a total_size', response.at('total_size'))
    },
    'tool-effects (convention:Discovery): tools are listed with annotations and output schema': async (context) => {
      const response = await discoveryResponse(context, '/tools')
      response.object('tools.0.definition.output_schema')
      const hint = response.at('tools.0.definition.annotations.read_only_hint')
      equal(typeof hint, 'boolean', 'the type of read_only_hint')
    },
    'tools-of-provider (convention:Discovery): filter.provider leaves the tools of one provider': async (context) => {
      const { name } = await context.catalog.main()
      const ofConnector = await discoveryResponse(context, '/tools', { 'filter.connector': name })
      const provider = ofConnector.string('tools.0.provider')
      const response = await discoveryResponse(context, '/tools', { 'filter.provider': provider, page_size: 1000 })
      for (const tool of response.objects('tools'))
        equal(ownMember(tool, 'provider'), provider, 'the provider of a tool')
      must(
        response.list('tools').length >= ofConnector.list('tools').length,
        'every tool of the provider',
        response.text,
      )
    },
    'tools-by-name (convention:Discovery): filter.tool_name may be repeated': async (context) => {
      const all = await discoveryResponse(context, '/tools')
      const names = all.list('tools').map((_, index) => all.string(`tools.${index}.definition.name`))
      const two = names.slice(0, 2)
      const response = await discoveryResponse(context, '/tools', { 'filter.tool_name': two })
      equal(response.at('total_size'), two.length, 'the number of tools')
    },
    'tool-names (convention:Discovery): filter.summary=true answers names only': async (context) => {
      const response = await discoveryResponse(context, '/tools', { 'filter.summary': 'true' })
      response.string('tool_names.0')
      response.lacks('tools')
    },
    'tools-once (convention:G73): a tool is listed once, however many connections its provider has': async (
      context,
    ) => {
      const response = await discoveryResponse(context, '/tools', { page_size: 1000 })
      const names = response
        .objects('tools')
        .map((tool) => jsonText([tool['provider'], valueAt(tool, 'definition.name')]))
      equal(new Set(names).size, names.length, 'the number of different tools')
    },
    'tools-page-size (convention:Discovery): page_size is 0 to 1000': pageSizes('/tools'),
    'tools-pages (convention:Discovery): page tokens lead through every tool once': (context) =>
      eachOnce(context, '/tools', 'tools', {}, 'id'),
  }),
  ...checksOf('discovery', 'list_scoped_tools', {
    'scoped (convention:Discovery): scoped tools are those of the active accounts of an identifier': async (
      context,
    ) => {
      const account = await context.activeAccount()
      const response = await discoveryResponse(context, '/tools/scoped', { identifier: account.identifier })
      response.has('tools.0.identifier', account.identifier).has('tools.0.connected_account_id', account.id)
    },
    'scoped-pending (convention:Discovery): an account that is not ACTIVE has no scoped tools': async (context) => {
      const account = await context.account()
      equal(
        (await discoveryResponse(context, '/tools/scoped', { identifier: account.identifier })).list('tools'),
        [],
        'the tools',
      )
    },
    'scoped-page-size (convention:Discovery): page_size is 0 to 1000': pageSizes('/tools/scoped'),
    'scoped-pages (convention:Discovery): page tokens lead through every scoped tool once': async (context) => {
      const { identifier } = await context.activeAccount()
      const query = { identifier, page_size: 1 }
      await eachOnce(context, '/tools/scoped', 'tools', query, 'connected_account_id', 'tool.id')
    },
    'scoped-identifier (convention:Discovery): scoped tools without an identifier are a 400': async (context) => {
      await discoveryResponse(context, '/tools')
      ;(await context.api.get('/tools/scoped')).is(400)
    },
  }),
  ...checksOf('discovery', 'list_available_tools', {
    'available (convention:Discovery): available tools are those of the active accounts of an identifier, each once':
      async (context) => {
        const { identifier } = await context.activeAccount()
        const query = { identifier, page_size: 1000 }
        const scoped = (await discoveryResponse(context, '/tools/scoped', query))
          .objects('tools')
          .map((each) => ownMember(each, 'tool'))
        const available = await discoveryResponse(context, '/tools/available', query)
        available.string('tools.0.definition.name')
        const ids = new Set(scoped.map((tool) => textOf(valueAt(tool, 'id'))))
        equal(
          available
            .objects('tools')
            .map(({ id }) => textOf(id))
            .sort(),
          [...ids].sort(),
          'the ids of the tools',
        )
      },
    'available-pending (convention:Discovery): an account that is not ACTIVE makes no tool available': async (
      context,
    ) => {
      const { identifier } = await context.account()
      equal((await discoveryResponse(context, '/tools/available', { identifier })).list('tools'), [], 'the tools')
    },
    'available-unknown (convention:Discovery): an identifier without any account is a 404': async (context) => {
      const identifier = context.resources.identifier()
      ;(await context.api.get('/tools/available', { identifier })).servedBy('Discovery').is(404)
    },
    'available-page-size (convention:Discovery): page_size is 0 to 1000': pageSizes('/tools/available'),
    'available-pages (convention:Discovery): page tokens lead through every available tool once': async (context) => {
      const { identifier } = await context.activeAccount()
      await eachOnce(context, '/tools/available', 'tools', { identifier }, 'id')
    },
  }),
  ...checksOf('discovery', 'list_providers', {
    'providers (convention:Discovery): providers are listed, and those of the service are not custom': async (
      context,
    ) => {
      const name = await mainProvider(context)
      const response = await discoveryResponse(context, '/providers', { page_size: 100 })
      const provider = response.objects('providers').find((each) => ownMember(each, 'identifier') === name)
      equal(provider && ownMember(provider, 'is_custom'), false, `is_custom of provider ${name}`)
    },
    'provider-of-accounts (convention:Discovery): an account has the provider of the tools of its connector': async (
      context,
    ) => {
      const provider = await mainProvider(context)
      const { id, created } = await context.account()
      created.has('connected_account.provider', provider)
      ;(await context.details(id)).has('connected_account.provider', provider)
    },
    'providers-pages (convention:Discovery): page tokens lead through every provider once': (context) =>
      eachOnce(context, '/providers', 'providers', {}, 'identifier'),
    'providers-standard (convention:Discovery): filter.provider_type=STANDARD leaves out custom providers': async (
      context,
    ) => {
      const identifier = (await context.provider()).is(201).string('provider.identifier')
      const all = await discoveryResponse(context, '/providers', { 'filter.identifier': identifier })
      all.has('providers.0.identifier', identifier)
      const query = { 'filter.identifier': identifier, 'filter.provider_type': 'STANDARD' }
      equal((await discoveryResponse(context, '/providers', query)).list('providers'), [], 'the providers')
    },
    'providers-page-size (convention:Discovery): page_size is 0 to 1000': pageSizes('/providers'),
  }),
  ...checksOf('discovery', 'list_app_connections', {
    'app-connections (convention:Discovery): connections of single sign-on are left out': async (context) => {
      const response = await discoveryResponse(context, '/connections/app', { page_size: 100 })
      for (const { type } of response.objects('connections'))
        must(!SIGN_ON.has(type), 'a type that accounts have', type)
    },
    'app-connections-of-provider (convention:Discovery): provider leaves the connections of one provider': async (
      context,
    ) => {
      const path = '/connections/app'
      const all = (await discoveryResponse(context, path, { page_size: 1000 })).objects('connections')
      for (const provider of ['NOBODY_HAS_THIS', ...new Set(all.map((each) => textOf(ownMember(each, 'provider'))))]) {
        const expected = all.filter((each) => ownMember(each, 'provider') === provider)
        const connections = (await discoveryResponse(context, path, { page_size: 1000, provider })).objects(
          'connections',
        )
        equal(connections, expected, `the connections of ${provider}`)
      }
    },
    'app-connections-page-size (convention:Discovery): page_size is 0 to 1000': pageSizes('/connections/app'),
    'app-connections-pages (convention:Discovery): page tokens lead through every one of these connections once': (
      context,
    ) => eachOnce(context, '/connections/app', 'connections', {}, 'id'),
  }),
]

/** The types of connections that accounts cannot be at (2.5, G49). */
const SIGN_ON: ReadonlySet<unknown> = new Set(['OIDC', 'SAML', 'PASSWORD', 'PASSWORDLESS', 'WEBAUTHN'])

/** The provider of the connector that most checks use, which may have another name than it. */
async function mainProvider(context: CheckContext): Promise<string> {
  const { name } = await context.catalog.main()
  return (await discoveryResponse(context, '/tools', { 'filter.connector': name })).string('tools.0.provider')
}

function pageSizes(path: string): CheckRun {
  return async (context) => {
    const identifier = path.startsWith('/tools/') ? (await context.activeAccount()).identifier : undefined
    for (const page_size of [0, 1000]) await discoveryResponse(context, path, { identifier, page_size })
    ;(await context.api.get(path, { identifier, page_size: 1001 })).is(400)
  }
}

/** Follows the page tokens of a list to its end, seven items at a time unless the query says otherwise; the paths identify an item. */
export async function eachOnce(
  context: CheckContext,
  path: string,
  member: string,
  query: QueryParameters,
  ...idPaths: string[]
): Promise<void> {
  const pages = await everyPage((page_token) =>
    discoveryResponse(context, path, { page_size: 7, ...query, page_token }),
  )
  const items = pages.flatMap((page) => page.objects(member))
  const ids = items.map((item) => JSON.stringify(idPaths.map((path) => valueAt(item, path))))
  equal(ids.length, pages.at(-1)?.at('total_size'), `the number of ${member} on all pages`)
  equal(new Set(ids).size, ids.length, `the number of different ${member}`)
}

/** @throws Skipped when the target does not serve Discovery */
async function discoveryResponse(
  { api }: CheckContext,
  path: string,
  query: QueryParameters = {},
): Promise<ServiceResponse> {
  return (await api.get(path, query)).servedBy('Discovery').is(200)
}
