import { ROUTES } from '../contract/route.ts'
import { nearest } from '../domain/suggestion.ts'
import type { RecordedEntry } from './entry.ts'

/** The served method and path that a request most likely meant, `POST /oauth/token`; null when it was served, or none is near. */
export function didYouMean({ kind, operation, method, url, status }: RecordedEntry): string | null {
  if (kind !== 'request' || operation !== null || (status !== 404 && status !== 405)) return null
  const path = url.split('?', 1).join().slice(0, 200)
  const path_ = nearest(path, new Set(ROUTES.map((route) => route.path)))
  const known = path_ ?? sameEnd(path)
  if (known === undefined) return null
  const methods: readonly string[] = ROUTES.filter((route) => route.path === known).map((route) => route.method)
  return `${methods.includes(method) ? method : methods.join(' or ')} ${known}`
}

/** Another version or prefix, `/v1/tools` for `/api/v1/tools`. */
function sameEnd(path: string): string | undefined {
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return last === '' ? undefined : ROUTES.find((route) => route.path.split('/').at(-1) === last)?.path
}
