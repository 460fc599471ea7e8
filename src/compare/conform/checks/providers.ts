import type { JsonObject, JsonValue } from '../../../model/domain/json.ts'
import { must, equal } from '../service-response.ts'
import { type Check, checksOf, statusChecks } from '../check.ts'
import { createBodyStoring } from '../catalog.ts'
import type { CheckContext } from '../context.ts'

const PATH = '/custom-providers'

/** Refused, it changes nothing; an implementation that takes it makes a provider, so that it needs the permission too. */
const answers = statusChecks((context, body: JsonObject) => context.provider(body))

/** Custom providers (4.11 to 4.13, 2.4, part 8). All but the refusals need `--allow-provider-changes`. */
export const PROVIDER_CHECKS: readonly Check[] = [
  ...checksOf('providers', 'create_custom_provider', {
    'created (document:4.11): create answers 201 with the provider and its identifier': async (context) =>
      (await context.provider()).is(201).string('provider.identifier'),
    'defaults (document:2.4): metadata is {} when none was set': async (context) =>
      (await context.provider()).is(201).has('provider.metadata', {}),
    'custom (document:2.4): is_custom is true': async (context) =>
      (await context.provider()).is(201).has('provider.is_custom', true).has('provider.is_custom_mcp', false),
    'mcp (convention:G38): a pattern with is_mcp makes is_custom_mcp true': async (context) => {
      const auth_patterns = [{ type: 'BEARER', is_mcp: true }]
      ;(await context.provider({ auth_patterns })).is(201).has('provider.is_custom_mcp', true)
    },
    'mcp-any (convention:G38): is_mcp may be true in any pattern, and is not where it is false': async (context) => {
      const [no, yes] = [
        { type: 'BEARER', is_mcp: false },
        { type: 'OAUTH', is_mcp: true },
      ] as const
      ;(await context.provider({ auth_patterns: [no, yes] })).is(201).has('provider.is_custom_mcp', true)
      ;(await context.provider({ auth_patterns: [no] })).is(201).has('provider.is_custom_mcp', false)
    },
    'echo (document:4.11): every field comes back as it was sent': async (context) => {
      const fields = sampleProvider()
      const response = (await context.provider(fields)).is(201)
      for (const [field, value] of Object.entries(fields)) response.has(`provider.${field}`, value)
    },
    'fields (document:2.4): the provider has every field of 2.4': async (context) => {
      const provider = (await context.provider()).is(201).object('provider')
      for (const field of FIELDS) must(Object.hasOwn(provider, field), `the field ${field}`, Object.keys(provider))
    },
    'unique (convention:G37): two providers of one display name have two identifiers': async (context) => {
      const display_name = context.resources.name('provider')
      const [one, second] = [await context.provider({ display_name }), await context.provider({ display_name })]
      must(one.string('provider.identifier') !== second.string('provider.identifier'), 'two identifiers', 'one')
    },
    'connection (convention:G38): a provider has a connection with its identifier as key_id': async (context) => {
      const identifier = await createProvider(context)
      const connections = (await context.api.get('/connections')).is(200).objects('connections')
      const keys = connections.map((each) => each['key_id'])
      must(keys.includes(identifier), `a connection ${identifier}`, keys)
    },
    'connector (choice:G19): accounts can be created at a provider': async (context) => {
      const connector = await createProvider(context)
      const account = await context.account({ connector })
      account.created.has('connected_account.connector', connector)
    },
    'no-display-name (choice:G36): no display_name is a 400': answers(400, { display_name: '' }),
    'long-display-name (choice:G36): a display_name over 200 characters is a 400': answers(400, {
      display_name: 'a'.repeat(201),
    }),
    'http-proxy (document:2.4): a proxy_url without https:// is a 400': answers(400, {
      proxy_url: 'http://proxy.example',
    }),
    'text-proxy (document:8): a proxy_url that is no URL is a 400': answers(400, { proxy_url: 'proxy' }),
    'short-key (document:8): a metadata key of 2 characters is a 400': answers(400, { metadata: { ab: 'x' } }),
    'long-key (document:8): a metadata key of 26 characters is a 400': answers(400, {
      metadata: { ['a'.repeat(26)]: 'x' },
    }),
    'empty-value (document:8): an empty metadata value is a 400': answers(400, { metadata: { abc: '' } }),
    'long-value (document:8): a metadata value of 257 characters is a 400': answers(400, {
      metadata: { abc: 'x'.repeat(257) },
    }),
    'many-pairs (document:8): 21 metadata pairs are a 400': answers(400, { metadata: metadataOfSize(21) }),
    'number-value (document:2.4): a metadata value that is no text is a 400': answers(400, { metadata: { abc: 1 } }),
    'patterns-type (document:2.4): auth_patterns that is no array is a 400': answers(400, { auth_patterns: {} }),
    'pattern-type (convention:G38): a pattern whose type is no authorization type is a 400': answers(400, {
      auth_patterns: [{ type: 'oauth' }],
    }),
    'bounds (document:8): metadata at its bounds is taken': async (context) => {
      const metadata = { ...metadataOfSize(18), abc: 'x'.repeat(256), ['k'.repeat(25)]: 'y' }
      ;(await context.provider({ metadata })).is(201).has('provider.metadata', metadata)
    },
  }),
  ...checksOf('providers', 'update_custom_provider', {
    'update (document:4.12): only provided fields change': async (context) => {
      const created = (await context.provider(sampleProvider())).is(201)
      const response = await updateProvider(context, created.string('provider.identifier'), { description: 'changed' })
      response.is(200).has('provider', { ...created.object('provider'), description: 'changed' })
    },
    'update-metadata (choice:G39): metadata is replaced as a whole': async (context) => {
      const identifier = await createProvider(context, { metadata: { one: '1', two: '2' } })
      const response = await updateProvider(context, identifier, { metadata: { two: '3' } })
      response.is(200).has('provider.metadata', { two: '3' })
    },
    'update-null (convention:G58): null for a field leaves it as it is': async (context) => {
      const created = (await context.provider(sampleProvider())).is(201)
      const nothing = { description: null, icon_src: null, metadata: null, proxy_url: null }
      const response = await updateProvider(context, created.string('provider.identifier'), nothing)
      response.is(200).has('provider', created.object('provider'))
    },
    'update-proxy-empty (choice:G39): an empty proxy_url clears it': async (context) => {
      const identifier = await createProvider(context, sampleProvider())
      ;(await updateProvider(context, identifier, { proxy_url: '' })).is(200).has('provider.proxy_url', '')
    },
    'update-identifier (document:4.12): the identifier stays when the display name changes': async (context) => {
      const identifier = await createProvider(context)
      const response = await updateProvider(context, identifier, { display_name: context.resources.name('renamed') })
      response.is(200).has('provider.identifier', identifier)
    },
    'update-proxy (document:4.12): a proxy_url without https:// is a 400 and changes nothing': async (context) => {
      const identifier = await createProvider(context)
      ;(await updateProvider(context, identifier, { proxy_url: 'http://proxy.example', description: 'lost' })).is(400)
      ;(await updateProvider(context, identifier, {}))
        .is(200)
        .has('provider.proxy_url', '')
        .has('provider.description', '')
    },
    'update-type (choice:G39): accounts take the new type, without their credentials': async (context) => {
      const connector = await createProvider(context, { auth_patterns: [{ type: 'API_KEY' }] })
      const api_key = context.resources.name('key')
      const { id } = await context.account({
        connector,
        ...createBodyStoring({ static_auth: { details: { api_key } } }),
      })
      ;(await updateProvider(context, connector, { auth_patterns: [{ type: 'OAUTH' }] })).is(200)
      const response = await context.auth(id)
      response.has('connected_account.authorization_type', 'OAUTH').has('connected_account.status', 'PENDING_AUTH')
      must(!response.text.includes(api_key), 'no credentials of the old type', response.text)
    },
    'update-unknown (document:4.12): an unknown identifier is a 404': async (context) =>
      (await updateProvider(context, 'nobody-has-this', { description: 'x' })).is(404),
  }),
  ...checksOf('providers', 'delete_custom_provider', {
    'delete (document:4.13): delete answers an empty JSON object': async (context) => {
      const identifier = await createProvider(context)
      equal((await removeProvider(context, identifier)).is(200).json, {}, 'the body')
    },
    'delete-twice (document:4.13): a second delete is a 404': async (context) => {
      const identifier = await createProvider(context)
      ;(await removeProvider(context, identifier)).is(200)
      ;(await removeProvider(context, identifier)).is(404)
      ;(await updateProvider(context, identifier, { description: 'x' })).is(404)
    },
    'delete-unknown (document:4.13): deleting an unknown identifier is a 404': async (context) =>
      (await removeProvider(context, 'nobody-has-this')).is(404),
    'delete-accounts (choice:G40): the accounts of a deleted provider are DISCONNECTED': async (context) => {
      const connector = await createProvider(context)
      const { id } = await context.account({ connector })
      ;(await removeProvider(context, connector)).is(200)
      ;(await context.details(id)).has('connected_account.status', 'DISCONNECTED')
      ;(await context.execute({ id }, { name: 'any_tool' })).is(404)
    },
    'delete-keeps-accounts (choice:G40): the accounts can be read, updated and deleted by name': async (context) => {
      const connector = await createProvider(context)
      const { id, identifier, organization_id } = await context.account({ connector })
      const locator = { organization_id, connector, identifier }
      ;(await removeProvider(context, connector)).is(200)
      const changed = { ...locator, connected_account: { api_config: { a: 1 } } }
      ;(await context.api.put('/connected_accounts', changed)).is(200).has('connected_account.id', id)
      ;(await context.api.get('/connected_accounts/auth', locator)).is(200)
      ;(await context.api.post('/connected_accounts:delete', locator)).is(200)
    },
  }),
]

const FIELDS =
  `id identifier display_name description icon_src auth_patterns categories coming_soon display_priority is_custom
  is_custom_mcp metadata proxy_enabled proxy_url`.split(/\s+/)

function sampleProvider(): JsonObject {
  return {
    description: 'Made by a conformance run.',
    icon_src: 'https://app.example/icon.svg',
    auth_patterns: [{ type: 'API_KEY', fields: [{ name: 'api_key', label: 'API key' }] }],
    metadata: { team: 'conformance' },
    proxy_enabled: true,
    proxy_url: 'https://proxy.example/base',
  }
}

function metadataOfSize(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_${index}`, String(index)]))
}

async function createProvider(context: CheckContext, body: JsonObject = {}): Promise<string> {
  return (await context.provider(body)).is(201).string('provider.identifier')
}

function updateProvider({ api }: CheckContext, identifier: string, body: JsonValue) {
  return api.put(`${PATH}/${encodeURIComponent(identifier)}`, body)
}

function removeProvider({ api }: CheckContext, identifier: string) {
  return api.delete(`${PATH}/${encodeURIComponent(identifier)}`)
}
