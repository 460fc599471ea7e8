import { isLoopback } from './loopback.ts'

/** What a base URL is: links, redirects or the paths of calls are appended to it. */
export const BASE_URL_RULE = 'an http or https URL without query'

/** The one judgment of base URLs: those of connectors (`base_url`), of the server and of servers to call. */
export function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\/[^?#\s\\]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** Whether the service may call a server: one on loopback, or any with `--allow-outbound`. */
export function mayBeCalled(baseUrl: string, allowOutbound: boolean): boolean {
  return allowOutbound || isLoopback(new URL(baseUrl).hostname)
}
