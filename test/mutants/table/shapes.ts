import { answering, type Mutant } from '../mutant.ts'

/** Answers that have every required field and still break the declared schema. */
export const SHAPE_MUTANTS: readonly Mutant[] = [
  {
    name: 'connection-field-too-many',
    what: 'a connection has a field that is not declared',
    caughtBy: 'shape/list_connections',
    mutate: answering('list_connections', (body) => {
      for (const connection of body.connections) connection.created_by = 'somebody'
    }),
  },
  {
    name: 'search-total-as-text',
    what: 'search tells its total as a text',
    caughtBy: 'shape/search_connected_accounts',
    mutate: answering('search_connected_accounts', (body) => {
      body.total_size = String(body.total_size)
    }),
  },
  {
    name: 'details-local-time',
    what: 'get-details tells its times without a zone',
    caughtBy: 'shape/get_connected_account_details',
    mutate: answering('get_connected_account_details', ({ connected_account }) => {
      connected_account.updated_at = connected_account.updated_at.replace('Z', '')
    }),
  },
]
