/** Put in by the bundler (`.build/bundle.ts`) from package.json; sources that run unbundled have none. */
declare const TOOLMOCK_VERSION: string | undefined

export const VERSION = typeof TOOLMOCK_VERSION === 'string' ? TOOLMOCK_VERSION : '0.0.0-development'
