import { CREDENTIAL_KINDS, TRAITS } from '../model/domain/authorization-type.ts'
import { collectionNamed, type Collection, itemKey } from '../model/domain/collection.ts'
import { type Connector, providerOf } from '../model/domain/connector.ts'
import { bareConnector, typeOfConnection } from '../model/domain/connector-defaults.ts'
import { isErrorCode } from '../model/domain/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, objectAt, ownMember, textAt } from '../model/domain/json.ts'
import { authorizationTypeOf } from '../model/domain/provider.ts'
import type { SeedBundle } from '../model/domain/seed.ts'
import { Hints, listAllowed } from '../model/domain/suggestion.ts'
import { type Problem, type Path, problemValue, valuesAt } from '../model/schema/problems.ts'

/** The connectors that a seed may refer to; `undefined` for a name whose own file has problems. */
export type KnownConnectors = ReadonlyMap<string, Connector | undefined>

/**
 * Its connector files, connections of account types, custom providers (G19), further connections of a provider (G73). A
 * connector file that only serves custom providers takes the name away (G47).
 */
export function connectorsIn(bundle: SeedBundle, there: KnownConnectors = new Map()): KnownConnectors {
  const connectors = new Map(there)
  for (const provider of bundle.providers) {
    if (provider.identifier !== undefined)
      connectors.set(
        provider.identifier,
        bareConnector(provider.identifier, authorizationTypeOf(provider.auth_patterns ?? [])),
      )
  }
  for (const { key_id, type } of bundle.connections) {
    const authorizationType = type && typeOfConnection(type)
    if (authorizationType) connectors.set(key_id, bareConnector(key_id, authorizationType))
  }
  for (const connector of bundle.connectors) {
    if (connector.custom_provider === null) connectors.set(connector.connector, connector)
    else connectors.delete(connector.connector)
  }
  const ownNames = new Set<unknown>([
    ...bundle.connectors.map(({ connector }) => connector),
    ...bundle.providers.map(({ identifier }) => identifier),
  ])
  for (const { key_id, provider_key, type } of bundle.connections) {
    if (provider_key === undefined || ownNames.has(key_id) || (type && !typeOfConnection(type))) continue
    const ofProvider =
      connectors.get(provider_key) ?? [...connectors.values()].find((each) => each && providerOf(each) === provider_key)
    if (ofProvider) connectors.set(key_id, ofProvider)
  }
  return connectors
}

/** The names of connector files in a seed's list of connectors. */
export function listedNames(seed: JsonValue): string[] {
  return textsAt(seed, ['connectors', '*'])
}

/** The name of a connector document, and the names in a seed's list of connectors. */
export function namesIn(document: JsonValue): string[] {
  return textsAt(document, ['connector'], ['connectors', '*'], ['connectors', '*', 'connector'])
}

/** Every name in a seed that may mean a connector, of wrong entries too, so that one mistake is reported once. */
export function possibleNames(seed: JsonValue): string[] {
  const typed = valuesAt(seed, ['connections', '*']).flatMap(({ value }) =>
    isJsonObject(value) && (ownMember(value, 'type') ?? ownMember(value, 'provider_key')) !== undefined
      ? [ownMember(value, 'key_id')]
      : [],
  )
  return [
    ...namesIn(seed),
    ...typed.filter((name) => typeof name === 'string'),
    ...textsAt(seed, ['providers', '*', 'identifier']),
  ]
}

function textsAt(document: JsonValue, ...paths: readonly string[][]): string[] {
  const values = paths.flatMap((path) => valuesAt(document, path).map(({ value }) => value))
  return values.filter((value) => typeof value === 'string')
}

/** What is wrong with a seed given the connectors that there are and the files beside it. */
export function checkSeed(document: JsonValue, connectors: KnownConnectors, files: ReadonlySet<string>): Problem[] {
  const hints = new Hints()
  const inEach = (
    check: (item: JsonObject, path: Path, connectors: KnownConnectors, hints: Hints) => Problem[],
    ...path: readonly string[]
  ): Problem[] =>
    valuesAt(document, path).flatMap(({ path: at, value }) =>
      isJsonObject(value) ? check(value, at, connectors, hints) : [],
    )
  return [
    ...valuesAt(document, ['connectors', '*']).flatMap(({ path, value }): Problem[] => {
      if (typeof value !== 'string' || files.has(value)) return []
      const allowed = `connectors with a file in the folder of this seed (${listAllowed(value, files, hints) || 'there is none'})`
      return [{ path, found: `${problemValue(value)}${hints.didYouMean(value, files)}`, allowed }]
    }),
    ...inEach(connectionProblems, 'connections', '*'),
    ...inEach(accountProblems, 'accounts', '*'),
    ...inEach(collectionProblems, 'collections', '*'),
    ...inEach(connectorProblems, 'generate'),
    ...inEach(connectorProblems, 'generate', '*'),
  ]
}

function connectionProblems(item: JsonObject, path: Path, connectors: KnownConnectors): Problem[] {
  const [keyId, type] = [textAt(item, 'key_id'), ownMember(item, 'type')]
  const connector = connectors.get(keyId)
  if (type === undefined) {
    const allowed = 'a type, because no connector has the name of this connection, or that of its provider_key'
    return connectors.has(keyId) ? [] : [{ path: [...path, 'type'], found: 'nothing', allowed }]
  }
  const typeOfProvider = connector && TRAITS[connector.authorization_type].connectionType
  if (connector?.connector === keyId || typeOfProvider === undefined || type === typeOfProvider) return []
  const allowed = `${typeOfProvider}, the type of its provider ${connector?.connector ?? ''}, or none`
  return [{ path: [...path, 'type'], found: problemValue(type), allowed }]
}

function connectorProblems(item: JsonObject, path: Path, connectors: KnownConnectors, hints: Hints): Problem[] {
  const name = ownMember(item, 'connector')
  if (typeof name !== 'string' || connectors.has(name)) return []
  const suggestion = hints.didYouMean(name, connectors.keys())
  const names = listAllowed(name, connectors.keys(), hints) || 'there is none'
  const bundled = '; --seed bundled, or `seed: [bundled, …]` in the configuration file, adds the bundled ones'
  const allowed = `a connector that there is (${names}${suggestion === '' ? bundled : ''})`
  return [{ path: [...path, 'connector'], found: `${problemValue(name)}${suggestion}`, allowed }]
}

function accountProblems(item: JsonObject, path: Path, connectors: KnownConnectors, hints: Hints): Problem[] {
  const connector = connectors.get(textAt(item, 'connector'))
  if (!connector) return connectorProblems(item, path, connectors, hints)
  const type = connector.authorization_type
  const typeValue = ownMember(item, 'authorization_type')
  const problems = detailProblems(objectAt(item, 'authorization_details'), connector, [
    ...path,
    'authorization_details',
  ])
  if (typeValue !== undefined && typeValue !== type) {
    const allowed = `${type}, the type of connector ${connector.connector}`
    problems.push({ path: [...path, 'authorization_type'], found: problemValue(typeValue), allowed })
  }
  for (const [name, items] of Object.entries(objectAt(item, 'collections'))) {
    const at = [...path, 'collections', name]
    problems.push(...itemProblems(connector, { name, items, per: 'account', at, key: true, path: at }, hints))
  }
  return problems
}

/** The items of a collection that accounts share. */
function collectionProblems(document: JsonObject, path: Path, connectors: KnownConnectors, hints: Hints): Problem[] {
  const connector = connectors.get(textAt(document, 'connector'))
  if (!connector) return connectorProblems(document, path, connectors, hints)
  const [name, items = []] = [ownMember(document, 'collection'), ownMember(document, 'items')]
  if (typeof name !== 'string') return []
  const at = [...path, 'collection']
  const place = { name, items, per: 'environment', at, key: false, path: [...path, 'items'] } as const
  return itemProblems(connector, place, hints)
}

interface ItemsPlace {
  name: string
  items: JsonValue
  per: Collection['per']
  /** Of the name, and whether it is a key. */
  at: Path
  key: boolean
  /** Of the items. */
  path: Path
}

function itemProblems(connector: Connector, { name, items, per, at, key, path }: ItemsPlace, hints: Hints): Problem[] {
  const collection = collectionNamed(connector, name)
  if (!collection) {
    const names = Object.keys(connector.collections ?? {})
    const mistake = `${problemValue(name)}${hints.didYouMean(name, names)}`
    return [
      {
        path: at,
        found: mistake,
        allowed: `a collection of ${connector.connector} (${listAllowed(name, names, hints) || 'there is none'})`,
        atKey: key,
      },
    ]
  }
  if (collection.per !== per) {
    const allowed =
      per === 'account'
        ? `\`collections\` of the seed, because the accounts of ${connector.connector} share ${name}`
        : `\`collections\` of an account, because each account of ${connector.connector} has ${name} of its own`
    return [{ path: at, found: problemValue(name), allowed, atKey: key }]
  }
  return Array.isArray(items) ? keyProblems(collection, items, path) : []
}

/** Every item has a key that no other has. */
export function keyProblems(collection: Collection, items: readonly JsonValue[], path: Path): Problem[] {
  const keys = new Set<string>()
  return items.flatMap((item, index): Problem[] => {
    if (!isJsonObject(item)) return []
    const key = itemKey(collection, item)
    const place = [...path, index, collection.key]
    if (key === undefined)
      return [
        {
          path: place,
          found: problemValue(ownMember(item, collection.key)),
          allowed: 'the key of the item, a text or a number',
        },
      ]
    if (keys.has(key))
      return [{ path: place, found: `${problemValue(key)} for the second time`, allowed: 'each key once' }]
    keys.add(key)
    return []
  })
}

/** An account has the one sub-object of its type, and `db_user` where its cluster is provisioned (G23). */
function detailProblems(details: JsonObject, connector: Connector, path: Path): Problem[] {
  const { authorization_type: type, cluster } = connector
  const fitting = TRAITS[type].kind
  const allowed = fitting === null ? `no credentials for ${type}` : `${fitting} for ${type}`
  const problems = CREDENTIAL_KINDS.filter((kind) => kind !== fitting && ownMember(details, kind) !== undefined).map(
    (kind): Problem => ({ path: [...path, kind], found: `set for an account of type ${type}`, allowed, atKey: true }),
  )
  if (type === 'TRUSTED_IDP' && cluster === 'provisioned' && !ownMember(objectAt(details, 'trusted_idp'), 'db_user')) {
    const needed = 'the database user, because the cluster is provisioned'
    problems.push({ path: [...path, 'trusted_idp', 'db_user'], found: 'nothing', allowed: needed })
  }
  return problems
}

/** Words of `settings.vocabulary` that the spec does not know, and words on the wire that mean another word there (G48). */
export function checkVocabulary(seed: JsonValue, words: readonly string[]): Problem[] {
  const [setting] = valuesAt(seed, ['settings', 'vocabulary'])
  if (!setting || !isJsonObject(setting.value)) return []
  const vocabulary = setting.value
  const [names, hints] = [new Set(words), new Hints()]
  return Object.entries(vocabulary).flatMap(([word, wire]): Problem[] => {
    const path = [...setting.path, word]
    const problems = names.has(word) ? [] : [unknownWord(word, words, path, hints)]
    if (typeof wire !== 'string' || !names.has(wire) || Object.hasOwn(vocabulary, wire)) return problems
    if (isErrorCode(word) && isErrorCode(wire)) return problems
    const allowed = `a word that the document does not have, or ${wire} with a word of its own as well`
    return [...problems, { path, found: `${problemValue(wire)}, which is a word of the document`, allowed }]
  })
}

function unknownWord(word: string, words: readonly string[], path: Path, hints: Hints): Problem {
  const close: string[] = []
  for (let count = 0; count < 3; count++) {
    const others = words.filter((candidate) => !close.includes(candidate))
    close.push(...[hints.nearest(word, others) ?? []].flat())
  }
  const meant = close.length > 0 ? ` (did you mean ${close.join(', ')}?)` : ''
  const allowed = 'names of fields and values of enumerations of the contract'
  return { path, found: `an unknown word${meant}`, allowed, atKey: true }
}
