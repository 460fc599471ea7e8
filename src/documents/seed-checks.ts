import { CREDENTIAL_KINDS, TRAITS } from '../domain/authorization-type.ts'
import type { Connector } from '../domain/connector.ts'
import { bareConnector, typeOfConnection } from '../domain/connector-defaults.ts'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { authorizationTypeOf } from '../domain/provider.ts'
import type { SeedBundle } from '../domain/seed.ts'
import { repeatedNames } from './connector-checks.ts'
import { type Finding, type Path, shown } from './problem.ts'

/** The connectors that a seed may refer to; `undefined` behind a name whose own file has problems. */
export type KnownConnectors = ReadonlyMap<string, Connector | undefined>

/** Every connector that a bundle brings: its connector files, the connections of account types, its custom providers (G19). */
export function connectorsIn(bundle: SeedBundle): KnownConnectors {
  const known = new Map<string, Connector | undefined>()
  for (const provider of bundle.providers) {
    if (provider.identifier !== undefined)
      known.set(
        provider.identifier,
        bareConnector(provider.identifier, authorizationTypeOf(provider.auth_patterns ?? [])),
      )
  }
  for (const { key_id, type } of bundle.connections) {
    const authorizationType = type && typeOfConnection(type)
    if (authorizationType) known.set(key_id, bareConnector(key_id, authorizationType))
  }
  for (const connector of bundle.connectors)
    if (connector.custom_provider === null) known.set(connector.connector, connector)
  return known
}

/** The name of a connector document, and the names in a seed's list of connectors. */
export function namesIn(document: JsonValue): string[] {
  if (!isJsonObject(document)) return []
  const listed = items(document, 'connectors').map((item) => (isJsonObject(item) ? own(item, 'connector') : item))
  return [own(document, 'connector'), ...listed].filter((name) => typeof name === 'string')
}

/** Every name in a seed that may stand for a connector, whatever its shape, so that one mistake is not told twice. */
export function possibleNames(seed: JsonValue): string[] {
  if (!isJsonObject(seed)) return []
  const typed = items(seed, 'connections').filter((item) => isJsonObject(item) && own(item, 'type') !== undefined)
  const names = [
    ...typed.map((item) => isJsonObject(item) && own(item, 'key_id')),
    ...items(seed, 'providers').map((item) => isJsonObject(item) && own(item, 'identifier')),
  ]
  return [...namesIn(seed), ...names.filter((name) => typeof name === 'string')]
}

/** What in a seed document does not go with the connectors that there are. */
export function checkSeed(document: JsonValue, known: KnownConnectors, files: ReadonlySet<string>): Finding[] {
  if (!isJsonObject(document)) return []
  return [
    ...repeatedNames(items(document, 'clients'), 'client_id', ['clients']),
    ...repeatedNames(items(document, 'connections'), 'key_id', ['connections']),
    ...repeatedNames(items(document, 'providers'), 'identifier', ['providers']),
    ...listFindings(document, files),
    ...items(document, 'connections').flatMap((item, index) => connectionFindings(item, ['connections', index], known)),
    ...items(document, 'accounts').flatMap((item, index) => accountFindings(item, ['accounts', index], known)),
    ...repeatedNames(items(document, 'accounts'), 'id', ['accounts']),
    ...repeatedAccounts(items(document, 'accounts')),
    ...generateItems(document).flatMap(([item, path]) => connectorFindings(item, path, known)),
  ]
}

/** Names in the list of connectors that no file beside the seed has, and connectors that are there twice. */
function listFindings(document: JsonObject, files: ReadonlySet<string>): Finding[] {
  const seen = new Set<string>()
  return items(document, 'connectors').flatMap((item, index): Finding[] => {
    const name = isJsonObject(item) ? own(item, 'connector') : item
    if (typeof name !== 'string') return []
    const path = ['connectors', index, ...(isJsonObject(item) ? ['connector'] : [])]
    if (seen.has(name)) return [{ path, found: `${shown(name)} for the second time`, allowed: 'each connector once' }]
    seen.add(name)
    if (isJsonObject(item) || files.has(name)) return []
    return [
      { path, found: shown(name), allowed: `connectors with a file in the folder of this seed (${listed(files)})` },
    ]
  })
}

function connectionFindings(item: JsonValue, path: Path, known: KnownConnectors): Finding[] {
  if (!isJsonObject(item) || own(item, 'type') !== undefined) return []
  const name = own(item, 'key_id')
  if (typeof name === 'string' && known.has(name)) return []
  const allowed = 'a type, because no connector has the name of this connection (required)'
  return [{ path: [...path, 'type'], found: 'nothing', allowed }]
}

function connectorFindings(item: JsonValue, path: Path, known: KnownConnectors): Finding[] {
  const name = isJsonObject(item) ? own(item, 'connector') : undefined
  if (typeof name !== 'string' || known.has(name)) return []
  return [
    {
      path: [...path, 'connector'],
      found: shown(name),
      allowed: `a connector that there is (${listed(known.keys())})`,
    },
  ]
}

function accountFindings(item: JsonValue, path: Path, known: KnownConnectors): Finding[] {
  const unknown = connectorFindings(item, path, known)
  const name = isJsonObject(item) ? own(item, 'connector') : undefined
  const connector = typeof name === 'string' ? known.get(name) : undefined
  if (!connector || !isJsonObject(item)) return unknown
  const type = connector.authorization_type
  const given = own(item, 'authorization_type')
  const findings: Finding[] = []
  if (given !== undefined && given !== type) {
    const allowed = `${type}, the type of connector ${connector.connector}`
    findings.push({ path: [...path, 'authorization_type'], found: shown(given), allowed })
  }
  return [
    ...findings,
    ...detailFindings(own(item, 'authorization_details'), connector, [...path, 'authorization_details']),
  ]
}

/** G23: the sub-object that fits, and `db_user` for provisioned clusters. */
function detailFindings(details: JsonValue | undefined, connector: Connector, path: Path): Finding[] {
  const given = isJsonObject(details) ? details : {}
  const { authorization_type: type, cluster } = connector
  const fitting = TRAITS[type].kind
  const allowed = fitting === null ? `no credentials for ${type}` : `${fitting} for ${type}`
  const findings = CREDENTIAL_KINDS.filter((kind) => kind !== fitting && own(given, kind) !== undefined).map(
    (kind): Finding => ({ path: [...path, kind], found: kind, allowed, atKey: true }),
  )
  const login = own(given, 'trusted_idp')
  if (type === 'TRUSTED_IDP' && cluster === 'provisioned' && !(isJsonObject(login) && own(login, 'db_user'))) {
    const needed = 'the database user, because the cluster is provisioned (required)'
    findings.push({ path: [...path, 'trusted_idp', 'db_user'], found: 'nothing', allowed: needed })
  }
  return findings
}

function repeatedAccounts(accounts: readonly JsonValue[]): Finding[] {
  const first = new Map<string, number>()
  return accounts.flatMap((account, index): Finding[] => {
    if (!isJsonObject(account)) return []
    const scope = ['organization_id', 'user_id'].map((field) => own(account, field) ?? '')
    const key = JSON.stringify([own(account, 'connector'), own(account, 'identifier'), ...scope])
    const before = first.get(key)
    if (before === undefined) first.set(key, index)
    const found = `the account of accounts[${before ?? 0}] for the second time`
    const allowed = 'each identifier once for each connector and scope'
    return before === undefined ? [] : [{ path: ['accounts', index, 'identifier'], found, allowed }]
  })
}

function generateItems(document: JsonObject): [JsonValue, Path][] {
  const generate = own(document, 'generate')
  if (Array.isArray(generate)) return generate.map((item, index) => [item, ['generate', index]])
  return generate === undefined ? [] : [[generate, ['generate']]]
}

function items(document: JsonObject, key: string): readonly JsonValue[] {
  const value = own(document, key)
  return Array.isArray(value) ? value : []
}

function listed(names: Iterable<string>): string {
  const all = [...names]
  return all.length === 0 ? 'there is none' : all.slice(0, 30).join(', ')
}
