import { defineFault } from './fault.ts'

/** A user who allows less than the application asks for. */
export const grantScopes = defineFault({
  parameters: ({ nonEmpty }) => nonEmpty.array().min(1),
  description: 'At consent: the user grants these scopes, one at least, in place of those that are asked for.',
  sentence: (scopes) => `grants ${scopes.join(', ')}`,
  phase: 'consent',
  scopes: (scopes) => scopes,
})
