import type { Mutant, WireReply, WireRequest } from '../mutant.ts'

/** The proxy. */
export const PROXY_MUTANTS: readonly Mutant[] = [
  answering('proxy-open', 'the proxy asks for no bearer token', 'bearer', (reply, { headers }) => {
    if (headers['authorization'] === undefined) Object.assign(reply, { status: 200, body: {} })
  }),
  answering('proxy-account-missing', 'headers without an account are a 422', 'no-account', (reply) => {
    if (codeIn(reply) === 'MISSING_LOCATOR') reply.status = 422
  }),
  answering('proxy-account-unknown', 'an unknown account is a 400 of the proxy', 'unknown-account', (reply) => {
    if (codeIn(reply) === 'ACCOUNT_NOT_FOUND') reply.status = 400
  }),
  answering(
    'proxy-inactive-invalid',
    'the proxy takes an inactive account for an invalid request',
    'inactive',
    (reply) => {
      if (codeIn(reply) === 'ACCOUNT_NOT_ACTIVE') reply.body.code = 3
    },
  ),
  answering('proxy-one-status', 'the proxy makes a 500 of what the third party refuses', 'status', (reply) => {
    if (reply.status === 422) reply.status = 500
  }),
  answering('proxy-hides-refusal', 'the proxy makes a 403 of a 401 of the third party', 'refused', (reply) => {
    if (reply.status === 401 && codeIn(reply) === undefined) reply.status = 403
  }),
  {
    name: 'proxy-only-get',
    what: 'the proxy sends GET, whatever the method',
    caughtBy: 'proxy/forwards',
    mutate: ({ request }) =>
      request((sent) => {
        if (isProxied(sent)) Object.assign(sent, { method: 'GET' })
      }),
  },
  {
    name: 'proxy-root',
    what: 'the proxy sends every request to the root of the third party',
    caughtBy: 'proxy/forwards',
    mutate: ({ request }) =>
      request((sent) => {
        if (isProxied(sent)) Object.assign(sent, { path: '/proxy/' })
      }),
  },
  {
    name: 'proxy-empty-object',
    what: 'the proxy sends an empty object as the body, whatever it was sent',
    caughtBy: 'proxy/body',
    mutate: ({ request }) =>
      request((sent) => {
        if (!isProxied(sent) || !sent.headers['content-length']) return
        sent.headers['content-length'] = '2'
        sent.body = '{}'
      }),
  },
  {
    name: 'proxy-no-query',
    what: 'the proxy drops the query',
    caughtBy: 'proxy/body',
    mutate: ({ request }) =>
      request((sent) => {
        if (isProxied(sent)) for (const name of [...sent.query.keys()]) sent.query.delete(name)
      }),
  },
  {
    name: 'proxy-unused',
    what: 'a request through the proxy leaves last_used_at unset',
    caughtBy: 'proxy/last-used',
    mutate: ({ request, reply }) => {
      const proxied = new Set<string>()
      request((sent) => {
        if (isProxied(sent)) proxied.add(String(sent.headers['identifier']))
      })
      reply(({ body }) => {
        const account = body?.connected_account
        if (proxied.has(account?.identifier)) delete account.last_used_at
      })
    },
  },
]

function isProxied({ path }: WireRequest): boolean {
  return path.startsWith('/proxy/')
}

/** A mutant that changes answers of the proxy. */
function answering(
  name: string,
  what: string,
  check: string,
  change: (reply: WireReply, request: WireRequest) => void,
): Mutant {
  return {
    name,
    what,
    caughtBy: `proxy/${check}`,
    mutate: ({ reply }) =>
      reply((answer, request) => {
        if (isProxied(request)) change(answer, request)
      }),
  }
}

function codeIn({ body }: WireReply): string | undefined {
  return body?.details?.[0]?.error_code as string | undefined
}
