import { readFileSync } from 'node:fs'
import type { Plugin } from 'esbuild'

const MEDIA_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/yaml',
  'image/svg+xml',
  'multipart/form-data',
  'text/css',
  'text/event-stream',
  'text/html',
  'text/javascript',
  'text/plain',
  'text/xml',
  'text/yaml',
]

/**
 * Two tables that Express brings along and that cost a good part of the start: every media type there is, of which we send
 * and read a dozen, and the double-byte encodings of request bodies, which are refused (only UTF-8 is read, G7).
 */
export const slimTables: Plugin = {
  name: 'slim-tables',
  setup(build) {
    build.onLoad({ filter: /node_modules\/mime-db\/db\.json$/ }, ({ path }) => {
      const all = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
      const kept = Object.entries(all).filter(([type]) => MEDIA_TYPES.includes(type))
      return { contents: JSON.stringify(Object.fromEntries(kept)), loader: 'json' }
    })
    build.onLoad({ filter: /node_modules\/iconv-lite\/encodings\/dbcs-data\.js$/ }, () => ({
      contents: 'module.exports = {}',
    }))
    build.onResolve({ filter: NEVER_ASKED }, ({ path }) => ({ path, namespace: 'never-asked' }))
    build.onLoad({ filter: /.*/, namespace: 'never-asked' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/** What Prism would read Postman collections and remote references with: a megabyte that a document at hand never asks for. */
const NEVER_ASKED = /^(postman-collection|node-fetch)$/
