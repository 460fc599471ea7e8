/** The options of `createApp` that `createToolmock` has too, with the same names, types and meaning. */
export interface SharedOptions {
  /** Seed files, folders or `bundled`, one after the other; the bundled seed when absent. */
  readonly seeds?: readonly string[] | undefined
  /** Answers for a part of the service that the mock does not serve: names of bundled extensions, or files. */
  readonly extensions?: readonly string[] | undefined
  /** Clocks are frozen. */
  readonly freeze?: boolean | undefined
  /** Ids, tokens and generated data repeat between runs; random when absent. */
  readonly idSeed?: number | undefined
  /** Unknown query parameters and body fields are 400s (G6). */
  readonly strict?: boolean | undefined
  /** Serve only what the service's document lists: no Discovery, no proxy, locators with an organization or user (G21). */
  readonly documentedOnly?: boolean | undefined
  /** Ignore and replace what the state file holds. */
  readonly fresh?: boolean | undefined
  /** `strict` when absent: an answer leaves once what it says is on disk; `relaxed`: at once. */
  readonly durability?: 'strict' | 'relaxed' | undefined
  /** What links and redirects are built on; from each request's Host when absent. */
  readonly baseUrl?: string | undefined
  /** Files with protobuf descriptors, from which gRPC, gRPC-Web and Connect are served on the same port (1.6). */
  readonly descriptors?: readonly string[] | undefined
  /** Serve a virtual MCP server for each connection, at its `mcp_server_url`; not together with `documentedOnly` (G61). */
  readonly mcp?: boolean | undefined
  /** Names at which the control API may be called, beside those that are always safe. */
  readonly allowHosts?: readonly string[] | undefined
  /** Connectors may name a server that is not on loopback. */
  readonly allowOutbound?: boolean | undefined
  /** Reload seeds, connectors, extensions and scenarios when their files change. */
  readonly watch?: boolean | undefined
  /** Largest request body that is accepted, in bytes; when absent, 1 MiB (G7), and 64 MiB of a call of the control API. */
  readonly bodyLimit?: number | undefined
  /** Each entry of the request journals is appended to this file as a line of JSON. */
  readonly journalFile?: string | undefined
}
