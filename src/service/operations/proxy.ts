import { isUtf8 } from 'node:buffer'
import type { Operation } from '../../model/contract/shapes.ts'
import { invalidField } from '../../model/domain/errors.ts'
import type { Locator, LocatorNames } from '../../model/domain/locator.ts'
import type { ForwardedResponse, ForwardedRequest } from '../../model/domain/ports.ts'
import { connectorOf, locateAccount } from './accounts.ts'
import { refuseDisabled } from './connections.ts'
import type { Call } from './operation.ts'
import { callThirdParty, refuseInactive, toolError } from './third-party-calls.ts'

type ProxyCall = Pick<Call<Operation>, 'environment' | 'thirdParty' | 'documentedOnly' | 'trace'>

/** An answer as the third party gave it. */
export type ProxiedResponse = Extract<ForwardedResponse, { kind: 'answer' }>

export const ACCOUNT_HEADERS: LocatorNames = { id: 'connected_account_id', connector: 'connection_name' }

/** The account that the headers of a request name; an identifier is UTF-8, which Node reads as Latin-1. */
export function headerLocator(headers: Readonly<Record<string, string | string[] | undefined>>): Locator {
  const text = (name: string): string => {
    const octets = Buffer.from(String(headers[name] ?? ''), 'latin1')
    return octets.toString(isUtf8(octets) ? 'utf8' : 'latin1')
  }
  return {
    id: text(ACCOUNT_HEADERS.id),
    connector: text(ACCOUNT_HEADERS.connector),
    identifier: text('identifier'),
    organization_id: text('organization_id'),
    user_id: text('user_id'),
  }
}

/** Refresh, 401 and state as for a tool's call (G44 to G46). The contract has no identifier: checked here (G66). */
export async function proxyRequest(
  call: ProxyCall,
  locator: Locator,
  request: ForwardedRequest,
): Promise<ProxiedResponse> {
  const { environment, thirdParty, trace } = call
  const { identifier = '' } = locator
  if (!/^$|\S/.test(identifier) || Array.from(identifier).length > 1000)
    throw invalidField('identifier', 'must not be blank, and have at most 1,000 characters', 'identifier')
  const located = locateAccount(call, locator, ACCOUNT_HEADERS)
  const connector = connectorOf(environment, located)
  refuseDisabled(environment, located.connector)
  refuseInactive(located)
  trace.execution_id = environment.ids.id('exec')
  const response = await callThirdParty(call, located, (account) => thirdParty.forward(connector, account, request), {
    // What has been sent on while it came in is gone: the answer to it passes through, a 401 too.
    isRepeated: request.rest === undefined,
  })
  if (response.kind !== 'answer') throw toolError(response, trace.execution_id)
  return response
}
