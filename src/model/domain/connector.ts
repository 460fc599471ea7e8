import type { Connector } from './generated/tables.ts'

/* A connector file (`spec/schemas/connector.schema.json`) with every default filled in. Durations are milliseconds. */

export type {
  Connector,
  CredentialField,
  RateLimit,
  Responder,
  CannedResponse,
  ResponderMatch,
  Tool,
} from './generated/tables.ts'

/** What accounts, tools and the list of providers call a connector. */
export function providerOf({ provider, connector }: Connector): string {
  return provider ?? connector
}

/** A connector or an extension. */
export type CollectionOwner = Pick<Connector, 'connector' | 'collections'>

/** Milliseconds by share of the calls: `[[0, 80], [1, 400]]` is anything between the two. */
export type Latency = NonNullable<Connector['latency']>
