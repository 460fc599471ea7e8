import type { Mutant, MutantTable, WireReply, WireRequest } from '../mutant.ts'

/** The proxy. */
export const PROXY_MUTANTS: MutantTable = {
  'proxy/bearer: the proxy asks for no bearer token': answering((reply, { headers }) => {
    if (headers['authorization'] === undefined) Object.assign(reply, { status: 200, body: {} })
  }),
  'proxy/no-account: headers without an account are a 422': answering((reply) => {
    if (codeIn(reply) === 'MISSING_LOCATOR') reply.status = 422
  }),
  'proxy/unknown-account: an unknown account is a 400 of the proxy': answering((reply) => {
    if (codeIn(reply) === 'ACCOUNT_NOT_FOUND') reply.status = 400
  }),
  'proxy/inactive: the proxy takes an inactive account for an invalid request': answering((reply) => {
    if (codeIn(reply) === 'ACCOUNT_NOT_ACTIVE') reply.body.code = 3
  }),
  'proxy/status: the proxy makes a 500 of what the third party refuses': answering((reply) => {
    if (reply.status === 422) reply.status = 500
  }),
  'proxy/refused: the proxy makes a 403 of a 401 of the third party': answering((reply) => {
    if (reply.status === 401 && codeIn(reply) === undefined) reply.status = 403
  }),
  'proxy/forwards: the proxy sends GET, whatever the method': ({ request }) =>
    request((sent) => {
      if (isProxied(sent)) Object.assign(sent, { method: 'GET' })
    }),
  'proxy/forwards: the proxy sends every request to the root of the third party': ({ request }) =>
    request((sent) => {
      if (isProxied(sent)) Object.assign(sent, { path: '/proxy/' })
    }),
  'proxy/body: the proxy sends an empty object as the body, whatever it was sent': ({ request }) =>
    request((sent) => {
      if (!isProxied(sent) || !sent.headers['content-length']) return
      sent.headers['content-length'] = '2'
      sent.body = '{}'
    }),
  'proxy/body: the proxy drops the query': ({ request }) =>
    request((sent) => {
      if (isProxied(sent)) for (const name of [...sent.query.keys()]) sent.query.delete(name)
    }),
  'proxy/last-used: a request through the proxy leaves last_used_at unset': ({ request, reply }) => {
    const proxied = new Set<string>()
    request((sent) => {
      if (isProxied(sent)) proxied.add(String(sent.headers['identifier']))
    })
    reply(({ body }) => {
      const account = body?.connected_account
      if (proxied.has(account?.identifier)) delete account.last_used_at
    })
  },
}

function isProxied({ path }: WireRequest): boolean {
  return path.startsWith('/proxy/')
}

/** A mutant that changes answers of the proxy. */
function answering(change: (reply: WireReply, request: WireRequest) => void): Mutant['mutate'] {
  return ({ reply }) =>
    reply((answer, request) => {
      if (isProxied(request)) change(answer, request)
    })
}

function codeIn({ body }: WireReply): string | undefined {
  return body?.details?.[0]?.error_code as string | undefined
}
