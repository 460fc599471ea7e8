import { answering, type MutantTable } from '../mutant.ts'

/** Answers that have every required field and still break the declared schema. */
export const SHAPE_MUTANTS: MutantTable = {
  'shape/list_connections: a connection has a field that is not declared': answering('list_connections', (body) => {
    for (const connection of body.connections) connection.created_by = 'somebody'
  }),
  'shape/search_connected_accounts: search tells its total as a text': answering(
    'search_connected_accounts',
    (body) => {
      body.total_size = String(body.total_size)
    },
  ),
  'shape/get_connected_account_details: get-details tells its times without a zone': answering(
    'get_connected_account_details',
    ({ connected_account }) => {
      connected_account.updated_at = connected_account.updated_at.replace('Z', '')
    },
  ),
}
