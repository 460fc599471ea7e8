import { expect, it } from 'vitest'
import type { Account, Scope } from '../../../src/model/domain/account.ts'
import { type AccountFinder, accountByLocator, type Locator } from '../../../src/model/domain/locator.ts'

const ADA = { connector: 'mail', identifier: 'ada' }
const NAMES = { id: 'connected_account_id', connector: 'connector' }

/** A finder over Ada's accounts `ca_1`, `ca_2`, … in these scopes. */
function accountsIn(...scopes: Partial<Scope>[]): AccountFinder {
  const all = scopes.map((scope, at) => ({
    id: `ca_${at + 1}`,
    ...ADA,
    organization_id: '',
    user_id: '',
    ...scope,
  })) as unknown as Account[]
  const at = (connector: string, identifier: string) =>
    all.filter((each) => each.connector === connector && each.identifier === identifier)
  return {
    byId: (id) => all.find((each) => each.id === id),
    inScope: (connector, identifier, { organization_id, user_id }) =>
      at(connector, identifier).find((each) => each.organization_id === organization_id && each.user_id === user_id),
    withinScope: (connector, identifier, { organization_id, user_id }) =>
      at(connector, identifier).filter(
        (each) =>
          (organization_id === '' || each.organization_id === organization_id) &&
          (user_id === '' || each.user_id === user_id),
      ),
  }
}

function refusal(accounts: AccountFinder, locator: Locator, documentedOnly = false, names?: typeof NAMES): unknown {
  try {
    return accountByLocator(accounts, locator, documentedOnly, names).id
  } catch (error) {
    const { errorCode, message, context } = error as { errorCode: string; message: string; context: object }
    return { errorCode, message, ...context }
  }
}

it.each<[string, Locator, Partial<Scope>[], string]>([
  ['its id', { id: 'ca_2' }, [{}, { user_id: 'u' }], 'ca_2'],
  ['its id beside what it has', { id: 'ca_1', ...ADA, organization_id: 'o' }, [{ organization_id: 'o' }], 'ca_1'],
  ['an empty id', { id: '', ...ADA }, [{}], 'ca_1'],
  [
    'exactly that scope',
    { ...ADA, organization_id: 'o' },
    [{ organization_id: 'o', user_id: 'u' }, { organization_id: 'o' }],
    'ca_2',
  ],
  ['no scope, beside accounts in scopes (G52)', ADA, [{ user_id: 'u' }, {}], 'ca_2'],
  [
    'the only one within the scope (G21)',
    { ...ADA, user_id: 'u' },
    [{ organization_id: 'o', user_id: 'u' }, {}],
    'ca_1',
  ],
  ['the only one', ADA, [{ organization_id: 'o' }], 'ca_1'],
])('finds the account by %s', (_kind, locator, scopes, id) => {
  expect(accountByLocator(accountsIn(...scopes), locator, false).id).toBe(id)
})

it.each<[Locator, string]>([
  [{ id: 'ca_9' }, 'there is no connected account with id "ca_9"'],
  [ADA, 'there is no connected account with identifier "ada" at connector "mail"'],
  [{ ...ADA, user_id: 'u' }, 'there is no connected account with identifier "ada" at connector "mail" in that scope'],
  [
    { ...ADA, organization_id: 'o' },
    'there is no connected account with identifier "ada" at connector "mail" in that scope',
  ],
])('by %j finds no account', (locator, message) => {
  expect(refusal(accountsIn(), locator)).toEqual({ errorCode: 'ACCOUNT_NOT_FOUND', message })
})

it.each<[Locator, string, string[]]>([
  [{}, 'connector and identifier are required', ['connector', 'identifier']],
  [{ connector: 'mail', identifier: '' }, 'identifier is required', ['identifier']],
  [{ identifier: 'ada' }, 'connector is required', ['connector']],
])('names the field that %j lacks', (locator, required, fields) => {
  const allowed = 'send id, or connector and identifier with organization_id or user_id'
  expect(refusal(accountsIn({}), locator)).toEqual({
    errorCode: 'MISSING_LOCATOR',
    message: `${required}: ${allowed}`,
    violations: fields.map((field) => ({ field, description: `is required: ${allowed}`, constraint: 'required' })),
  })
})

it('needs a scope with --documented-only', () => {
  const rule = '--documented-only takes connector and identifier only together with one of the two'
  expect(refusal(accountsIn({}), ADA, true)).toEqual({
    errorCode: 'MISSING_LOCATOR',
    message: `organization_id is required, or user_id: ${rule}`,
    violations: [{ field: 'organization_id', description: `is required, or user_id: ${rule}`, constraint: 'required' }],
  })
  expect(refusal(accountsIn({ user_id: 'u' }), { ...ADA, user_id: 'u' }, true)).toBe('ca_1')
  expect(refusal(accountsIn({ organization_id: 'o' }), { ...ADA, organization_id: 'o' }, true)).toBe('ca_1')
  expect(refusal(accountsIn({}), { id: 'ca_1' }, true)).toBe('ca_1')
})

it('refuses an id beside fields of another account, under the names of the request', () => {
  const locator = { id: 'ca_1', connector: 'calendar', identifier: 'ada', user_id: 'u' }
  const names = { id: 'connected_account_id', connector: 'connection_name' }
  const description = 'must have the value of the account that connected_account_id names'
  expect(refusal(accountsIn({}), locator, false, names)).toEqual({
    errorCode: 'CONTRADICTING_LOCATOR',
    message: 'connected_account_id names an account of another user_id, connection_name',
    violations: ['user_id', 'connection_name'].map((field) => ({ field, description, constraint: 'locator' })),
  })
})

it('refuses to choose between accounts, and names the fields to add', () => {
  const accounts = accountsIn({ organization_id: 'o', user_id: 'u' }, { organization_id: 'o', user_id: 'v' })
  const several = '2 accounts have this connector and identifier'
  expect(refusal(accounts, ADA)).toEqual({
    errorCode: 'AMBIGUOUS_LOCATOR',
    message: `${several}; send id, organization_id or user_id`,
    violations: [
      {
        field: 'organization_id',
        description: `is required, or user_id or id: ${several}`,
        constraint: 'locator',
      },
      { field: 'user_id', description: `is required, or organization_id or id: ${several}`, constraint: 'locator' },
    ],
  })
  expect(refusal(accounts, { ...ADA, organization_id: 'o' }, false, NAMES)).toEqual({
    errorCode: 'AMBIGUOUS_LOCATOR',
    message: `${several} in that scope; send connected_account_id or user_id`,
    violations: [
      {
        field: 'user_id',
        description: `is required, or connected_account_id: ${several} in that scope`,
        constraint: 'locator',
      },
    ],
  })
})
