import { useState } from 'preact/hooks'
import { ApiError, call, type Request, type Schemas, serverUrl } from './api.ts'
import { Dialog, Field, Form } from './controls.tsx'
import { closeItem, go, route } from './hash-route.ts'
import { bodyOf, formOf, headersOf, urlOf } from './snippets.ts'

export function Edit({ request, close: end }: Readonly<{ request: Request; close: () => void }>) {
  const { body: original } = request.request
  const [path, setPath] = useState(urlOf(request, ''))
  const [body, setBody] = useState(
    typeof original === 'object' && original !== null && !formOf(request)
      ? JSON.stringify(original, null, 2)
      : bodyOf(request),
  )
  return (
    <Dialog title="Edit and send" onClose={end}>
      <Form label="Send" disabled={!path.startsWith('/')} submit={() => sendAgain(request, path, body)}>
        <Field label={`${request.method} to`} autofocus value={path} onInput={setPath} />
        {body !== undefined && <Field label="Body" rows={12} value={body} onInput={setBody} />}
        <p class="quiet">A masked secret is sent as it is shown: replace it.</p>
      </Form>
    </Dialog>
  )
}

/**
 * Sends a request as the client did, with a new bearer token where it had one, and opens the new request. The page compares it
 * with this one on demand.
 */
export async function sendAgain(request: Request, path = urlOf(request, ''), body = bodyOf(request)): Promise<void> {
  const { method } = request
  const hasToken = request.request.headers['authorization'] !== undefined
  const headers = { ...headersOf(request), ...(hasToken && { Authorization: `Bearer ${await newToken()}` }) }
  const isBodyless = body === undefined || method === 'GET' || method === 'HEAD'
  const answer = await fetched(`${serverUrl()}${path}`, { method, headers, ...(isBodyless ? {} : { body }) })
  const id = answer.headers.get('x-request-id')
  if (id === null) closeItem()
  else go('timeline', id, { ...route.value.parameters, tab: 'answer' })
}

/** A token of the first client of the environment. The journal masks the one of the request. */
async function newToken(): Promise<string> {
  const variables = await call<Schemas['Variables']>('GET', '/env', { query: { format: 'json' } })
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: variables.TOOLMOCK_CLIENT_ID,
    client_secret: variables.TOOLMOCK_CLIENT_SECRET,
  })
  const answer = await fetched(`${serverUrl()}/oauth/token`, { method: 'POST', body })
  const { access_token: token } = (await answer.json().catch(() => ({}))) as { access_token?: string }
  if (token === undefined) throw new ApiError(answer.status, `The token endpoint answered ${answer.status}.`)
  return token
}

function fetched(url: string, options: RequestInit): Promise<Response> {
  return fetch(url, options).catch(() => {
    throw new ApiError(0, 'There was no answer: the connection ended. The timeline has the request.')
  })
}
