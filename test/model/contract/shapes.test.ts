import { expectTypeOf, it } from 'vitest'
import type { QueryOf, RequestBody, ResponseBody, StatusOf } from '../../../src/model/contract/shapes.ts'

// The assertions are types: `tsc` is what fails.

it('are those of the spec for a query', () => {
  expectTypeOf<QueryOf<'list_connected_accounts'>['page_size']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<QueryOf<'list_connected_accounts'>['connection_names']>().toEqualTypeOf<string[] | undefined>()
  expectTypeOf<QueryOf<'search_connected_accounts'>['query']>().toEqualTypeOf<string>()
  expectTypeOf<QueryOf<'delete_custom_provider'>>().toEqualTypeOf<Record<string, never>>()
})

it('are those of the spec for a request body', () => {
  expectTypeOf<RequestBody<'verify_user'>>().toEqualTypeOf<{ auth_request_id: string; identifier: string }>()
  expectTypeOf<RequestBody<'list_connections'>>().toEqualTypeOf<undefined>()
  expectTypeOf<RequestBody<'create_token'>['grant_type']>().toEqualTypeOf<'client_credentials'>()
})

it('are those of the spec for an answer', () => {
  expectTypeOf<StatusOf<'verify_user'>>().toEqualTypeOf<200 | 400 | 401 | 403 | 404 | 405 | 413 | 503>()
  expectTypeOf<ResponseBody<'list_connected_accounts', 200>['total_size']>().toEqualTypeOf<number>()
  expectTypeOf<ResponseBody<'delete_connected_account', 200>>().toEqualTypeOf<undefined>()
})
