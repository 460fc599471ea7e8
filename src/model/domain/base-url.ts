import { isLoopback } from './loopback.ts'
import { parseUrl } from './parse-url.ts'

/** The rule in words. Links, redirects or the paths of calls are appended to a base URL. */
export const BASE_URL_RULE = 'an http or https URL without user name, query and fragment'

/** The rule is the same for connectors (`base_url`), for the server and for servers to call. */
export function isBaseUrl(text: string): boolean {
  return !text.includes('?') && isHttpUrl(text)
}

export function isHttpUrl(text: string): boolean {
  const url = /^https?:\/\/[^#\s\\]+$/i.test(text) ? parseUrl(text) : undefined
  return url?.username === '' && url.password === ''
}

/** Whether the service may call a server: one on loopback, or any with `--allow-outbound`. */
export function mayBeCalled(baseUrl: string, allowOutbound: boolean): boolean {
  return allowOutbound || isLoopback(new URL(baseUrl).hostname)
}
