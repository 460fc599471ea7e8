import type { Scheme } from './scheme.ts'

/** `NO_AUTH`: nothing is presented, and nothing is asked for. */
export const none: Scheme = {
  present: () => undefined,
  verify: () => ({ allowed: true, grant: undefined }),
  known: () => undefined,
}
