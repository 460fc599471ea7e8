import type { JsonObject, JsonValue } from '../../domain/json.ts'
import { must, same } from '../answer.ts'
import { type Check, type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'

const PATH = '/custom-providers'

/** Custom providers (4.11 to 4.13, 2.4, part 8). All but the refusals need `--allow-provider-changes`. */
export const PROVIDER_CHECKS: readonly Check[] = [
  ...checksOf('create_custom_provider', [
    check('created', 'create answers 201 with the provider and its identifier', 'document:4.11', async (context) => {
      ;(await context.provider()).is(201).string('provider.identifier')
    }),
    check('defaults', 'metadata is {} when none was set', 'document:2.4', async (context) => {
      ;(await context.provider()).is(201).has('provider.metadata', {})
    }),
    check('custom', 'is_custom is true', 'document:2.4', async (context) => {
      ;(await context.provider()).is(201).has('provider.is_custom', true).has('provider.is_custom_mcp', false)
    }),
    check('mcp', 'a pattern with is_mcp makes is_custom_mcp true', 'convention:G38', async (context) => {
      const auth_patterns = [{ type: 'BEARER', is_mcp: true }]
      ;(await context.provider({ auth_patterns })).is(201).has('provider.is_custom_mcp', true)
    }),
    check('echo', 'every field comes back as it was sent', 'document:4.11', async (context) => {
      const fields = sample()
      const answer = (await context.provider(fields)).is(201)
      for (const [field, value] of Object.entries(fields)) answer.has(`provider.${field}`, value)
    }),
    check('fields', 'the provider has every field of 2.4', 'document:2.4', async (context) => {
      const provider = (await context.provider()).is(201).object('provider')
      for (const field of FIELDS) must(Object.hasOwn(provider, field), `the field ${field}`, Object.keys(provider))
    }),
    check('unique', 'two providers of one display name have two identifiers', 'convention:G37', async (context) => {
      const display_name = context.resources.name('provider')
      const [one, other] = [await context.provider({ display_name }), await context.provider({ display_name })]
      must(one.string('provider.identifier') !== other.string('provider.identifier'), 'two identifiers', 'one')
    }),
    check(
      'connection',
      'a provider has a connection with its identifier as key_id',
      'convention:G38',
      async (context) => {
        const identifier = await made(context)
        const keys = (await context.api.get('/connections'))
          .is(200)
          .objects('connections')
          .map((each) => each['key_id'])
        must(keys.includes(identifier), `a connection ${identifier}`, keys)
      },
    ),
    check('connector', 'accounts can be created at a provider', 'choice:G19', async (context) => {
      const connector = await made(context)
      const account = await context.account({ connector })
      account.created.has('connected_account.connector', connector)
    }),
    refused('no-display-name', 'no display_name is a 400', { display_name: '' }, 'choice:G36'),
    refused(
      'long-display-name',
      'a display_name over 200 characters is a 400',
      { display_name: 'a'.repeat(201) },
      'choice:G36',
    ),
    refused(
      'http-proxy',
      'a proxy_url without https:// is a 400',
      { proxy_url: 'http://proxy.example' },
      'document:2.4',
    ),
    refused('text-proxy', 'a proxy_url that is no URL is a 400', { proxy_url: 'proxy' }, 'document:8'),
    refused('short-key', 'a metadata key of 2 characters is a 400', { metadata: { ab: 'x' } }, 'document:8'),
    refused(
      'long-key',
      'a metadata key of 26 characters is a 400',
      { metadata: { ['a'.repeat(26)]: 'x' } },
      'document:8',
    ),
    refused('empty-value', 'an empty metadata value is a 400', { metadata: { abc: '' } }, 'document:8'),
    refused(
      'long-value',
      'a metadata value of 257 characters is a 400',
      { metadata: { abc: 'x'.repeat(257) } },
      'document:8',
    ),
    refused('many-pairs', '21 metadata pairs are a 400', { metadata: pairs(21) }, 'document:8'),
    refused('number-value', 'a metadata value that is no text is a 400', { metadata: { abc: 1 } }, 'document:2.4'),
    refused('patterns-type', 'auth_patterns that is no array is a 400', { auth_patterns: {} }, 'document:2.4'),
    refused(
      'pattern-type',
      'a pattern whose type is no authorization type is a 400',
      { auth_patterns: [{ type: 'oauth' }] },
      'convention:G38',
    ),
    check('bounds', 'metadata at its bounds is taken', 'document:8', async (context) => {
      const metadata = { ...pairs(18), abc: 'x'.repeat(256), ['k'.repeat(25)]: 'y' }
      ;(await context.provider({ metadata })).is(201).has('provider.metadata', metadata)
    }),
  ]),
  ...checksOf('update_custom_provider', [
    check('update', 'only provided fields change', 'document:4.12', async (context) => {
      const created = (await context.provider(sample())).is(201)
      const answer = await update(context, created.string('provider.identifier'), { description: 'changed' })
      answer.is(200).has('provider', { ...created.object('provider'), description: 'changed' })
    }),
    check('update-metadata', 'metadata is replaced as a whole', 'choice:G39', async (context) => {
      const created = (await context.provider({ metadata: { one: '1', two: '2' } })).is(201)
      const answer = await update(context, created.string('provider.identifier'), { metadata: { two: '3' } })
      answer.is(200).has('provider.metadata', { two: '3' })
    }),
    check('update-null', 'null for a field leaves it as it is', 'convention:G58', async (context) => {
      const created = (await context.provider(sample())).is(201)
      const nothing = { description: null, icon_src: null, metadata: null, proxy_url: null }
      const answer = await update(context, created.string('provider.identifier'), nothing)
      answer.is(200).has('provider', created.object('provider'))
    }),
    check('update-proxy-empty', 'an empty proxy_url clears it', 'choice:G39', async (context) => {
      const created = (await context.provider(sample())).is(201)
      const answer = await update(context, created.string('provider.identifier'), { proxy_url: '' })
      answer.is(200).has('provider.proxy_url', '')
    }),
    check(
      'update-identifier',
      'the identifier stays when the display name changes',
      'document:4.12',
      async (context) => {
        const identifier = await made(context)
        const answer = await update(context, identifier, { display_name: context.resources.name('renamed') })
        answer.is(200).has('provider.identifier', identifier)
      },
    ),
    check(
      'update-proxy',
      'a proxy_url without https:// is a 400 and changes nothing',
      'document:4.12',
      async (context) => {
        const identifier = await made(context)
        ;(await update(context, identifier, { proxy_url: 'http://proxy.example', description: 'lost' })).is(400)
        ;(await update(context, identifier, {})).is(200).has('provider.proxy_url', '').has('provider.description', '')
      },
    ),
    check('update-type', 'accounts take the new type, without their credentials', 'choice:G39', async (context) => {
      const auth_patterns = [{ type: 'API_KEY' }]
      const connector = (await context.provider({ auth_patterns })).is(201).string('provider.identifier')
      const api_key = context.resources.name('key')
      const authorization_details = { static_auth: { details: { api_key } } }
      const { id } = await context.account({ connector, connected_account: { authorization_details } })
      ;(await update(context, connector, { auth_patterns: [{ type: 'OAUTH' }] })).is(200)
      const answer = await context.auth(id)
      answer.has('connected_account.authorization_type', 'OAUTH').has('connected_account.status', 'PENDING_AUTH')
      must(!answer.text.includes(api_key), 'no credentials of the old type', answer.text)
    }),
    check('update-unknown', 'an unknown identifier is a 404', 'document:4.12', async (context) => {
      ;(await update(context, 'nobody-has-this', { description: 'x' })).is(404)
    }),
  ]),
  ...checksOf('delete_custom_provider', [
    check('delete', 'delete answers an empty JSON object', 'document:4.13', async (context) => {
      const identifier = await made(context)
      same((await remove(context, identifier)).is(200).json, {}, 'the body')
    }),
    check('delete-twice', 'a second delete is a 404', 'document:4.13', async (context) => {
      const identifier = await made(context)
      ;(await remove(context, identifier)).is(200)
      ;(await remove(context, identifier)).is(404)
      ;(await update(context, identifier, { description: 'x' })).is(404)
    }),
    check('delete-unknown', 'deleting an unknown identifier is a 404', 'document:4.13', async (context) => {
      ;(await remove(context, 'nobody-has-this')).is(404)
    }),
    check('delete-accounts', 'the accounts of a deleted provider are DISCONNECTED', 'choice:G40', async (context) => {
      const connector = await made(context)
      const { id } = await context.account({ connector })
      ;(await remove(context, connector)).is(200)
      ;(await context.details(id)).has('connected_account.status', 'DISCONNECTED')
      const body = { connected_account_id: id, tool_name: 'any_tool', tool_input: {} }
      ;(await context.api.post('/execute_tool', body)).is(404)
    }),
    check(
      'delete-keeps-accounts',
      'the accounts can be read, updated and deleted by name',
      'choice:G40',
      async (context) => {
        const connector = await made(context)
        const { id, identifier, organization_id } = await context.account({ connector })
        const locator = { organization_id, connector, identifier }
        ;(await remove(context, connector)).is(200)
        const changed = { ...locator, connected_account: { api_config: { a: 1 } } }
        ;(await context.api.put('/connected_accounts', changed)).is(200).has('connected_account.id', id)
        ;(await context.api.get('/connected_accounts/auth', locator)).is(200)
        ;(await context.api.post('/connected_accounts:delete', locator)).is(200)
      },
    ),
  ]),
]

const FIELDS = [
  'id',
  'identifier',
  'display_name',
  'description',
  'icon_src',
  'auth_patterns',
  'categories',
  'coming_soon',
  'display_priority',
  'is_custom',
  'is_custom_mcp',
  'metadata',
  'proxy_enabled',
  'proxy_url',
]

function sample(): JsonObject {
  return {
    description: 'Made by a conformance run.',
    icon_src: 'https://app.example/icon.svg',
    auth_patterns: [{ type: 'API_KEY', fields: [{ name: 'api_key', label: 'API key' }] }],
    metadata: { team: 'conformance' },
    proxy_enabled: true,
    proxy_url: 'https://proxy.example/base',
  }
}

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_${index}`, String(index)]))
}

/** The identifier of a new provider. */
async function made(context: CheckContext): Promise<string> {
  return (await context.provider()).is(201).string('provider.identifier')
}

function update({ api }: CheckContext, identifier: string, body: JsonValue) {
  return api.put(`${PATH}/${encodeURIComponent(identifier)}`, body)
}

function remove({ api }: CheckContext, identifier: string) {
  return api.delete(`${PATH}/${encodeURIComponent(identifier)}`)
}

function check(name: string, title: string, basis: CheckBasis, run: CheckEntry['run']): CheckEntry {
  return { id: `providers/${name}`, title, basis, run }
}

/** Refused, it changes nothing; an implementation that takes it makes a provider, so that it needs the permission too. */
function refused(name: string, title: string, body: JsonObject, basis: CheckBasis): CheckEntry {
  return check(name, title, basis, async (context) => {
    ;(await context.provider(body)).is(400)
  })
}
