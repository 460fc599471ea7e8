/** How a mock of one's own is started; everything may be left out. The flags of `toolmock start` say the same. */
export interface ToolmockOptions {
  /** A scenario that runs from the start in every environment: the name of a bundled one, or a file. */
  readonly scenario?: string
  /** Several of them. */
  readonly scenarios?: readonly string[]
  /** Seed files, folders or `bundled`, one after the other; the bundled seed when absent. */
  readonly seeds?: readonly string[]
  /** Where clocks start, ISO 8601 with a time zone; at the present when absent. */
  readonly clock?: string | Date
  /** Clocks stand still. */
  readonly freeze?: boolean
  /** Ids, tokens and generated data repeat between runs; random when absent. */
  readonly idSeed?: number
  /** Refuse what is otherwise ignored with a warning (G6), and serve no Discovery operations. */
  readonly strict?: boolean
  /** The file that keeps the model; in memory when absent. */
  readonly state?: string
  /** Ignore and replace what the state file holds. */
  readonly fresh?: boolean
  /** `strict` when absent: an answer leaves once what it says is on disk; `relaxed`: at once. */
  readonly durability?: 'strict' | 'relaxed'
  /** Port to serve on; a free one when absent. */
  readonly port?: number
  /** Address to serve on; 127.0.0.1 when absent. */
  readonly host?: string
  /** What links and redirects are built on; from each request's Host when absent. */
  readonly baseUrl?: string
  /** HTTPS (G50): with a temporary authority, whose file is in `env.NODE_EXTRA_CA_CERTS`, or with PEM files of one's own. */
  readonly tls?: boolean | { readonly cert: string; readonly key: string }
  /** What the control API asks of others; the mock's own methods bring it. */
  readonly adminToken?: string
  /** Names at which the control API may be called, beside those that are safe by themselves. */
  readonly allowHosts?: readonly string[]
  /** Connectors may name a server that is not on loopback. */
  readonly allowOutbound?: boolean
  /** Reload seeds, connectors and scenarios when their files change. */
  readonly watch?: boolean
  /** Largest request body that is taken, in bytes; 1 MiB when absent (G7). */
  readonly bodyLimit?: number
  /** How many entries the journal of an environment keeps; 10,000 when absent. */
  readonly journalSize?: number
  /** Journal entries are appended to this file, one line of JSON each. */
  readonly journalFile?: string
}
