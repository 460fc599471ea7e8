import type { Check } from '../check.ts'
import { Broken, Skipped } from '../verdict.ts'

const OPERATIONS = [
  'create_token',
  'list_connected_accounts',
  'update_connected_account',
  'create_connected_account',
  'get_connected_account_auth',
  'get_connected_account_details',
  'create_magic_link',
  'verify_user',
  'delete_connected_account',
  'search_connected_accounts',
  'list_connections',
  'create_custom_provider',
  'update_custom_provider',
  'delete_custom_provider',
  'execute_tool',
  'list_tools',
  'list_scoped_tools',
  'list_available_tools',
  'list_providers',
]

/** All answers to the checks before these, held against the whole of what `spec/openapi.yaml` declares (G53). */
export const SHAPE_CHECKS: readonly Check[] = OPERATIONS.map((operation) => ({
  id: `shape/${operation}`,
  title: `every answer of ${operation} has a declared status and the declared fields`,
  basis: 'choice:G53',
  run: ({ observed }) => {
    if (!observed) return Promise.reject(new Skipped('nobody judges shapes in this run'))
    const answers = observed.of(operation)
    if (answers.length === 0) return Promise.reject(new Skipped(`no other check of this run asked ${operation}`))
    for (const answer of answers) {
      const [first] = observed.judge.problems(operation, answer)
      if (first !== undefined)
        return Promise.reject(new Broken(`${answer.asked} to keep the declared shape`, `${answer.status}: ${first}`))
    }
    return Promise.resolve()
  },
}))
