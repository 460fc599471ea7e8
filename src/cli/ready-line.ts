import { VERSION } from '../version.ts'

export interface Ready {
  readonly url: string
  readonly client: { readonly id: string; readonly secret: string }
}

/**
 * What `start` prints once it serves: one line that names the address and the credentials, then the variables that programs
 * read, ready to be pasted into a shell; as JSON all of it is one line.
 */
export function readyLines(ready: Ready, json: boolean): string {
  const { url, client } = ready
  const variables = { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client.id, TOOLMOCK_CLIENT_SECRET: client.secret }
  if (json) {
    return JSON.stringify({
      level: 'info',
      message: 'ready',
      version: VERSION,
      url,
      client_id: client.id,
      client_secret: client.secret,
      variables,
    })
  }
  const block = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`)
  return [`toolmock serves ${url} (client id ${client.id}, client secret ${client.secret})`, '', ...block].join('\n')
}

/** Shell quoting: credentials come from a seed and may hold anything. */
function quoted(value: string): string {
  return /^[\w.:/@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}
