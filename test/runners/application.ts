/** An application that connects the mailbox of its only user, as the file `application.ts` of a project. */
export const APPLICATION = `
import { createServer } from 'node:http'
import { once } from 'node:events'

export async function startApplication(env, user = 'ada@example.com') {
  const call = async (path, body) => {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: env.TOOLMOCK_CLIENT_ID, client_secret: env.TOOLMOCK_CLIENT_SECRET })
    const { access_token } = await (await fetch(env.TOOLMOCK_URL + '/oauth/token', { method: 'POST', body: form })).json()
    const headers = { Authorization: 'Bearer ' + access_token, 'Content-Type': 'application/json' }
    return (await fetch(env.TOOLMOCK_URL + '/api/v1/connected_accounts' + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  let said = 'Not connected'
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const back = (location) => response.writeHead(303, { Location: location }).end()
    if (pathname === '/connect') {
      const connector = searchParams.get('connector') ?? 'mail'
      const user_verify_url = 'http://' + request.headers.host + (searchParams.has('popup') ? '/close' : '/verify')
      const { link } = await call('/magic_link', { connector, identifier: user, user_verify_url })
      back(link)
    } else if (pathname === '/verify' || pathname === '/close') {
      const auth_request_id = searchParams.get('auth_request_id')
      if (auth_request_id === null) said = 'Refused: ' + searchParams.get('error')
      else {
        const answer = await call('/user/verify', { auth_request_id, identifier: user })
        said = answer.message === undefined ? 'Connected as ' + user : answer.message
      }
      if (pathname === '/verify') back('/')
      else response.setHeader('Content-Type', 'text/html').end('<script>opener.location.reload(); close()</script>')
    } else {
      response.setHeader('Content-Type', 'text/html')
      response.end('<p>' + said + '</p><button onclick="location=\\'/connect\\'">Connect mail</button><button onclick="window.open(\\'/connect?popup=1\\')">In a popup</button>')
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => { server.closeAllConnections(); server.close() }
  return { url: 'http://127.0.0.1:' + server.address().port, stop }
}
`
