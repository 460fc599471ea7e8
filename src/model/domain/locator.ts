import { maskText } from './masking.ts'
import { quote } from './text.ts'
import { type Account, type Scope, scopeOf } from './account.ts'
import { invalidField, ServiceError } from './errors.ts'

/** How a request names an account (part 4, "Locating an account"). An empty string counts as not given. */
export interface Locator {
  id?: string | undefined
  organization_id?: string | undefined
  user_id?: string | undefined
  connector?: string | undefined
  identifier?: string | undefined
}

/** How the fields of a locator are called where the request names them; the rest have their own names everywhere. */
export interface LocatorNames {
  readonly id: string
  readonly connector: string
}

const FIELD_NAMES: LocatorNames = { id: 'id', connector: 'connector' }

/** The look-ups that locating needs; `state` answers them from its indexes. */
export interface AccountFinder {
  byId(id: string): Account | undefined
  inScope(connector: string, identifier: string, scope: Scope): Account | undefined
  /** Every account with this connector and identifier whose scope has the fields of the given one that are not empty. */
  withinScope(connector: string, identifier: string, scope: Scope): readonly Account[]
}

/**
 * The one account that a locator names: the one in exactly that scope, else the only one within it (G21, G52). `documentedOnly` asks for the scope that part 4 names.
 * @throws ServiceError MISSING_LOCATOR, AMBIGUOUS_LOCATOR, CONTRADICTING_LOCATOR (400), ACCOUNT_NOT_FOUND (404)
 */
export function accountByLocator(
  accounts: AccountFinder,
  locator: Locator,
  documentedOnly: boolean,
  names: LocatorNames = FIELD_NAMES,
): Account {
  if (locator.id) return locateById(accounts, locator.id, locator, names)
  const { connector, identifier } = locator
  if (!connector || !identifier) throw missingLocator(locator, names)
  const scope = scopeOf(locator)
  const scoped = scope.organization_id !== '' || scope.user_id !== ''
  if (!scoped && documentedOnly) throw missingScope()
  const [only, ...others] = accountsNamed(accounts, connector, identifier, scope)
  if (others.length > 0) throw ambiguousLocator(scope, others.length + 1, names)
  if (only) return only
  const where = scoped ? ' in that scope' : ''
  throw connectionNotFound(`identifier ${quote(identifier)} at connector ${quote(connector)}${where}`)
}

/** The account in exactly a scope, else every account within it (G21, G52). */
function accountsNamed(
  accounts: AccountFinder,
  connector: string,
  identifier: string,
  scope: Scope,
): readonly Account[] {
  const exact = accounts.inScope(connector, identifier, scope)
  return exact ? [exact] : accounts.withinScope(connector, identifier, scope)
}

/**
 * The one account of an identifier whose connector has the tool to run; `connectors` are those that have it (G21).
 * @throws ServiceError MISSING_LOCATOR, AMBIGUOUS_LOCATOR (400), TOOL_NOT_FOUND, ACCOUNT_NOT_FOUND (404)
 */
export function locateForTool(
  accounts: AccountFinder,
  locator: Locator & { readonly identifier: string },
  { tool, connectors }: { readonly tool: string; readonly connectors: readonly string[] },
  documentedOnly: boolean,
): Account {
  if (documentedOnly) throw missingConnector()
  const { identifier } = locator
  if (connectors.length === 0)
    throw new ServiceError('TOOL_NOT_FOUND', `tool not found: no connector has ${quote(tool)}`)
  const matches = connectors.flatMap((connector) => accountsNamed(accounts, connector, identifier, scopeOf(locator)))
  const [only, ...others] = matches
  if (others.length > 0) throw ambiguousForTool(matches, tool)
  if (only) return only
  const where = locator.organization_id || locator.user_id ? ' in that scope' : ''
  const at = `${connectors.length === 1 ? 'connector' : 'connectors'} ${connectorList(connectors.map((each) => quote(each)))}`
  throw connectionNotFound(
    `identifier ${quote(identifier)} at ${at}, which ${connectors.length === 1 ? 'has' : 'have'} the tool ${quote(tool)}${where}`,
  )
}

/** The fields of a locator that differ from the account that its id names. */
function contradictingFields(account: Account, locator: Locator) {
  const fields = ['organization_id', 'user_id', 'connector', 'identifier'] as const
  return fields.filter((field) => locator[field] && locator[field] !== account[field])
}

function locateById(accounts: AccountFinder, id: string, locator: Locator, names: LocatorNames): Account {
  const account = accounts.byId(id)
  if (!account) throw connectionNotFound(`${names.id} ${quote(maskText(id))}`)
  const wrong = contradictingFields(account, locator).map((field) => (field === 'connector' ? names.connector : field))
  if (wrong.length === 0) return account
  throw new ServiceError('CONTRADICTING_LOCATOR', `${names.id} names an account of another ${wrong.join(', ')}`, {
    violations: wrong.map((field) => ({
      field,
      description: `must have the value of the account that ${names.id} names`,
      constraint: 'locator',
    })),
  })
}

function ambiguousLocator(scope: Scope, count: number, { id }: LocatorNames): ServiceError {
  const fields = (['organization_id', 'user_id'] as const).filter((field) => scope[field] === '')
  const several = `${count} accounts have this connector and identifier${fields.length === 2 ? '' : ' in that scope'}`
  const send = [id, ...fields]
  return new ServiceError('AMBIGUOUS_LOCATOR', `${several}; send ${eitherOf(send)}`, {
    violations: fields.map((field) => {
      const others = send.filter((each) => each !== field).toReversed()
      return { field, description: `is required, or ${others.join(' or ')}: ${several}`, constraint: 'locator' }
    }),
  })
}

function eitherOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
}

function missingLocator(locator: Locator, { id, connector }: LocatorNames): ServiceError {
  const missing = [...(locator.connector ? [] : [connector]), ...(locator.identifier ? [] : ['identifier'])]
  const allowed = `${id}, or ${connector} and identifier with organization_id or user_id`
  const description = `is required: send ${allowed}`
  return new ServiceError(
    'MISSING_LOCATOR',
    `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required: send ${allowed}`,
    {
      violations: missing.map((field) => ({ field, description, constraint: 'required' })),
    },
  )
}

function missingScope(): ServiceError {
  const rule = '--documented-only takes connector and identifier only together with one of the two'
  return invalidField('organization_id', `is required, or user_id: ${rule}`, 'required', 'MISSING_LOCATOR')
}

function missingConnector(): ServiceError {
  const rule = '--documented-only takes an identifier only together with connector, and organization_id or user_id'
  return invalidField('connector', `is required, or connected_account_id: ${rule}`, 'required', 'MISSING_LOCATOR')
}

const DIFFERING = ['connector', 'organization_id', 'user_id'] as const

function ambiguousForTool(matches: readonly Account[], tool: string): ServiceError {
  const places = matches.map(({ connector, organization_id, user_id }) => {
    const scope = [organization_id && `organization ${quote(organization_id)}`, user_id && `user ${quote(user_id)}`]
    return `${quote(connector)} (${scope.filter(Boolean).join(', ') || 'no organization or user'})`
  })
  const several = `${matches.length} accounts with this identifier can run ${quote(tool)}, at ${connectorList(places)}`
  const fields = DIFFERING.filter((field) => new Set(matches.map((account) => account[field])).size > 1)
  return new ServiceError('AMBIGUOUS_LOCATOR', `${several}; send ${eitherOf(['connected_account_id', ...fields])}`, {
    violations: fields.map((field) => ({
      field,
      description: `is required, or connected_account_id: ${several}`,
      constraint: 'locator',
    })),
  })
}

const LISTED = 20

function connectorList(names: readonly string[]): string {
  const unlisted = names.length - LISTED
  return `${names.slice(0, LISTED).join(', ')}${unlisted > 0 ? ` and ${unlisted} more` : ''}`
}

function connectionNotFound(what: string): ServiceError {
  return new ServiceError('ACCOUNT_NOT_FOUND', `there is no connected account with ${what}`)
}
