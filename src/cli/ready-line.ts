import { VERSION } from '../version.ts'

export interface Ready {
  /** What programs are to call: the base URL where one was given. */
  readonly url: string
  /** The address that it listens at. */
  readonly listening: string
  readonly client: { readonly id: string; readonly secret: string }
  /** The certificate of a temporary authority. */
  readonly authorityFile?: string | undefined
}

/**
 * What `start` prints once it serves: one line that names the address and the credentials, then the variables that programs
 * read, ready to be pasted into a shell; as JSON all of it is one line.
 */
export function readyLines(ready: Ready, json: boolean): string {
  const { url, listening, client, authorityFile } = ready
  const variables = {
    TOOLMOCK_URL: url,
    TOOLMOCK_CLIENT_ID: client.id,
    TOOLMOCK_CLIENT_SECRET: client.secret,
    ...(authorityFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: authorityFile }),
  }
  if (json) {
    return JSON.stringify({
      level: 'info',
      message: 'ready',
      version: VERSION,
      url,
      listening,
      client_id: client.id,
      client_secret: client.secret,
      ...(authorityFile === undefined ? {} : { authority_file: authorityFile }),
      variables,
    })
  }
  const block = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`)
  const where = listening === url ? url : `${url} at ${listening}`
  const first = `toolmock serves ${where} (client id ${client.id}, client secret ${client.secret})`
  const trust = authorityFile === undefined ? [] : [`clients trust it by the authority in ${authorityFile}`]
  return [first, ...trust, '', ...block].join('\n')
}

/** Shell quoting: credentials come from a seed and may hold anything. */
function quoted(value: string): string {
  return /^[\w.:/@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}
