import { conflictWith } from '../../model/domain/extension.ts'
import { emptyBundle } from '../../model/domain/seed.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { quote, thereAre } from '../../model/domain/text.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import { isEnabled, serverUrlOf } from '../../service/operations/connections.ts'
import { maskJson } from '../../model/domain/masking.ts'
import type { Problem } from '../../model/schema/problems.ts'
import type { Snapshot } from '../../state/model/model.ts'
import type { Environment } from '../../state/environment.ts'
import { restartReplaced, restartRekeyed } from '../../state/collections.ts'
import { readStateUpload, replaceState } from '../../state/state-replacement.ts'
import { imageText } from '../../state/model/state-text.ts'
import { restoreSnapshot, takeSnapshot as takeSnapshotOf } from '../../state/snapshots.ts'
import { lazyImport } from '../../model/domain/once.ts'
import { changeReply, checkDocumentName, checkedName, type ControlHandlers, type EnvironmentCall } from './call.ts'
import { requestedSeed } from './environments.ts'
import { ControlError, invalidInput } from './errors.ts'
import { diffStates } from './state-diff.ts'

const loadSeedParser = lazyImport(() => import('../../files/seed-files.ts'))
const loadConnectorParser = lazyImport(() => import('../../files/read.ts'))

export const stateHandlers = {
  /** Rows, and their keys, as in the state file. */
  get_state: ({ services, environment }) => {
    const text = imageText(environment.image())
    if (Buffer.byteLength(text) > services.stateLimit) {
      const message = `the state is larger than ${services.stateLimit} bytes, which is the most that can be got and put back; the state file has it`
      throw new ControlError('BODY_TOO_LARGE', message)
    }
    return { text, type: 'application/json' }
  },

  put_state: async (call) => {
    const { services, environment, body } = call
    const { registry } = services
    const problems: Problem[] = []
    const state = await readStateUpload(body, { registry, environment }, (problem) => problems.push(problem))
    if (!state) throw invalidInput('INVALID_STATE', problems)
    replaceState(environment, state, () => restartCollections(call))
    return changeReply('the state was replaced')
  },

  reset: async (call) => {
    const { services, environment, journal, scenarios, body } = call
    const seed = body.seed && (await requestedSeed(call, body.seed))
    await services.environments.reset(environment, () => scenarios.reset(), seed)
    // Entries that come while the reset is being written belong to the new state.
    const before = journal.appended
    return { body: {}, onceDurable: () => journal.clear(before) }
  },

  add_seed: async (call) => {
    const { services, environment, body } = call
    const { parseSeed } = await loadSeedParser()
    const source = { file: 'body', text: body.text }
    const seed = await parseSeed(source, services.documentChecks, environment.connectors)
    await services.environments.add(environment, seed, call.trace)
    return changeReply('a seed was added')
  },

  list_connectors: ({ environment, request, services }) => {
    const baseUrl = (): string => baseUrlOf(request, services.baseUrl)
    const connectors = [...environment.connectors].map(([keyId, each]) => ({
      connector: keyId,
      display_name: each.display_name,
      description: each.description,
      authorization_type: each.authorization_type,
      enabled: isEnabled(environment, keyId),
      mcp_server_url: serverUrlOf({ ...services, environment, baseUrl }, keyId),
      people: each.people,
      base_url: each.base_url,
      tools: each.tools.map(({ name }) => name),
      responders: each.responders.map((responder) => ({
        method: responder.on.method ?? null,
        path: responder.on.path ?? null,
        answers: responder.answers.map(({ status }) => status),
        hits: environment.responderHits.get(responder) ?? 0,
      })),
    }))
    return { body: { connectors: maskJson(connectors) } }
  },

  put_connector: async (call) => {
    const { services, environment, body, path } = call
    const { parseConnector } = await loadConnectorParser()
    const connector = await parseConnector(body.text, 'body', services.documentChecks)
    checkDocumentName('connector', connector.connector, path.name)
    await services.environments.add(environment, { ...emptyBundle(), connectors: [connector] }, call.trace)
    return changeReply(`the connector ${connector.connector} was put`)
  },

  put_extension: async ({ services, body, path }) => {
    const { registry, extensions, documentChecks, documentedOnly } = services
    if (documentedOnly) {
      const mistake = 'sent to a server with --documented-only'
      throw invalidInput('INVALID_BODY', [
        { path: [], found: mistake, allowed: 'a server without: it serves no extension' },
      ])
    }
    const { parseExtension } = await loadConnectorParser()
    const extension = await parseExtension(body.text, 'body', documentChecks)
    checkDocumentName('extension', extension.extension, path.name)
    const prepare = (): void => {
      const conflict = conflictWith(extension, extensions.except(extension))
      if (conflict !== undefined) throw new ControlError('INVALID_DOCUMENT', `body: ${conflict}`)
      const before = extensions.all.find((each) => each.extension === extension.extension)
      for (const environment of registry.environments())
        environment.model.transact(() => restartReplaced(environment, extension, before))
    }
    prepare()
    const onceDurable = (): void => {
      // Meanwhile the former extension has answered, or another one was put.
      prepare()
      extensions.define(extension)
    }
    return { body: {}, onceDurable }
  },

  list_snapshots: ({ environment }) => ({
    body: { snapshots: [...environment.model.tables.snapshots.values()].map(snapshotView) },
  }),

  take_snapshot: ({ environment, path }) => ({
    body: snapshotView(takeSnapshotOf(environment, checkedName('a snapshot', path.name))),
  }),

  restore_snapshot: (call) => {
    const { environment, path } = call
    const snapshot = snapshotNamed(environment, path.name)
    restoreSnapshot(environment, snapshot, () => restartCollections(call))
    return changeReply(`the snapshot ${snapshot.id} was restored`)
  },

  delete_snapshot: ({ environment, path }) => {
    const { id } = snapshotNamed(environment, path.name)
    environment.model.transact(() => environment.model.tables.snapshots.remove(id))
    return { body: {} }
  },

  get_state_diff: ({ environment, query }) => {
    const snapshot = snapshotNamed(environment, query.snapshot)
    return { body: { snapshot: snapshot.id, ...diffStates(snapshot, environment.image()) } }
  },
} satisfies Partial<ControlHandlers>

/** What is put back can have items of an extension as another file described it. */
function restartCollections({
  services,
  environment,
}: Pick<EnvironmentCall<'put_state'>, 'services' | 'environment'>): void {
  for (const extension of services.extensions.all) restartRekeyed(environment, extension)
}

function snapshotNamed({ model }: Environment, name: string): Snapshot {
  const { snapshots } = model.tables
  const snapshot = snapshots.get(name)
  if (snapshot) return snapshot
  const names = [...snapshots.values()].map(({ id }) => id)
  const there = thereAre(names, 'none is saved (PUT /_mock/snapshots/{name}, npx toolmock snapshot save NAME)')
  throw new ControlError(
    'SNAPSHOT_NOT_FOUND',
    `there is no snapshot ${quote(name)}${didYouMean(name, names)}; ${there}`,
  )
}

function snapshotView({ id, taken_at }: Snapshot): object {
  return { name: id, taken_at }
}
