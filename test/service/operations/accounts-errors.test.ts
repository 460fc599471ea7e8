import { describe, expect } from 'vitest'
import { ADA, createAccount } from '../../support/accounts.ts'
import { it } from '../../support/toolmock.ts'

describe('error answers', () => {
  it('have the same shape, with code, message and ErrorInfo (G16)', async ({ mock: { http, signIn } }) => {
    const answer = await http('post', '/api/v1/connected_accounts')
      .auth(await signIn(), { type: 'bearer' })
      .set('X-Request-Id', 'mine-1')
      .send({ identifier: 'ada@example.com' })
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.headers['x-request-id']).toBe('mine-1')
    expect(answer.body).toEqual({
      code: 3,
      message: expect.stringContaining('connector'),
      details: [
        {
          '@type': 'type.googleapis.com/errdetails.ErrorInfo',
          error_code: 'VALIDATION_FAILED',
          request_info: { request_id: 'mine-1' },
          validation_error_info: {
            field_violations: [{ field: 'connector', description: expect.stringMatching(/./), constraint: 'required' }],
          },
        },
      ],
    })
  })

  it('name every violation of a request at once', async ({ mock: { api } }) => {
    const answer = await api.post('/connected_accounts', { connector: 1, identifier: 2, user_id: 3 })
    const [{ validation_error_info }] = answer.body.details
    const fields = validation_error_info.field_violations.map(({ field }: { field: string }) => field)
    expect(fields.sort()).toEqual(['connector', 'identifier', 'user_id'])
  })

  it.for([
    ['400 before 404', 'put', '/connected_accounts', { id: 'ca_none', connected_account: { api_config: 7 } }, 400],
    ['400 before 404', 'post', '/connected_accounts:delete', { id: 'ca_none', connector: 7 }, 400],
    ['400 before 404', 'post', '/connected_accounts/user/verify', { auth_request_id: 'none' }, 400],
    [
      '400 before 409',
      'post',
      '/connected_accounts',
      { ...ADA, connected_account: { authorization_type: 'BASIC' } },
      400,
    ],
    ['400 before 409', 'post', '/connected_accounts', { ...ADA, connected_account: { api_config: 7 } }, 400],
    [
      '400 before 409',
      'post',
      '/connected_accounts',
      { ...ADA, connected_account: { authorization_details: { static_auth: { details: {} } } } },
      400,
    ],
    ['404 before 403', 'post', '/connected_accounts/user/verify', { auth_request_id: 'none', identifier: 'x' }, 404],
  ] as const)('come in the order %s: %s %s %j (G17)', async ([_, method, path, body, status], { mock }) => {
    await createAccount(mock)
    expect((await mock.api[method](path, body)).status).toBe(status)
  })
})
