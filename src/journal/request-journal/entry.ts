import type { CheckedRequest } from '../../model/contract/contract.ts'
import type { components } from '../../model/contract/generated/control-types.ts'
import type { Operation, ServedOperation } from '../../model/contract/shapes.ts'
import type { FieldViolation } from '../../model/domain/errors.ts'
import type { Finding } from '../../model/domain/finding.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { TestLabel } from '../../model/domain/test-label.ts'
import type { Vocabulary } from '../../model/domain/vocabulary.ts'
import type { WebhookDelivery } from '../../model/domain/webhook.ts'

/** An API request, a page, a call of a third party by another program, the clock, a control call, a sent event. */
export const ENTRY_KINDS = ['request', 'page', 'third_party', 'clock', 'control', 'webhook'] as const
export type RequestKind = (typeof ENTRY_KINDS)[number]

export const PROTOCOLS = ['http', 'grpc', 'grpc-web', 'connect', 'mcp'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** References to data that exists anyway, secrets included: formatting and masking happen when it is read (view.ts). */
export interface StoredEntry {
  readonly kind: RequestKind
  /** The `X-Request-Id` of the answer (G18). */
  readonly id: string
  /** Its name; empty when the request belongs to no environment. */
  readonly environment: string
  /** Milliseconds in the environment's own time, and in real time. */
  readonly at: number
  readonly realAt: number
  readonly durationMs: number
  readonly operation: ServedOperation | null
  readonly protocol: Protocol
  /** Of HTTP; the full name of the called method for every other protocol. */
  readonly method: string
  /** As it was sent, with its query; of a call the address that its method stands for. For `clock` and `control`: what was done, in one sentence. */
  readonly url: string
  /** Names and values in turn, as they came. */
  readonly requestHeaders: readonly string[]
  readonly requestBody: Uint8Array | string
  /** Whether {@link requestBody} is only the beginning of what was sent. */
  readonly isRequestShortened: boolean
  /** 0 when the connection ended without an answer. */
  readonly status: number
  readonly errorCode: string | null
  readonly responseHeaders: Readonly<Record<string, string | readonly string[]>>
  readonly responseBody: Uint8Array | string
  readonly isResponseShortened: boolean
  readonly client: string | null
  /** Name and version that a client of MCP has sent. */
  readonly mcpClient: string | null
  readonly trace: RequestTrace
  /** The environment's own words on the wire, where it has a vocabulary (G48). */
  readonly vocabulary: Vocabulary | undefined
  readonly findings: readonly Finding[]
  /** Those for which the contract check refused it, before the rules of scenarios saw it; in the document's words. */
  readonly checkViolations: readonly FieldViolation[]
  readonly test: TestLabel | undefined
  /** What the answer does not say: the stack of a defect of the mock, the problem behind a page. */
  readonly failure: string | null
  readonly webhook: WebhookDelivery | null
}

type KnownToJournal =
  'findings' | 'test' | 'environment' | 'at' | 'realAt' | 'durationMs' | 'isRequestShortened' | 'isResponseShortened'

/** What the caller knows of an entry; a member that is left out is empty. */
export interface EntryInput
  extends
    Pick<StoredEntry, 'kind' | 'id' | 'url' | 'status'>,
    Optional<Omit<StoredEntry, 'kind' | 'id' | 'url' | 'status' | KnownToJournal>>,
    FindingFacts {
  /** Undefined for a request that belongs to no environment: it goes to the journal of the default one. */
  readonly environment: EntryEnvironment | undefined
  /** When the request came in, in real milliseconds; now when it is left out. */
  readonly startedAt?: number | undefined
}

/** What the steps of a request know of its mistakes when its entry ends, in the document's words (G48). */
export interface FindingFacts {
  /** What it was refused with. */
  readonly error?: unknown
  /** Absent when it was refused before the contract check. */
  readonly checked?: Pick<CheckedRequest<Operation>, 'query' | 'warnings'> | undefined
  readonly documentQuery?: string | undefined
  readonly documentBody?: unknown
  /** Where the mock's own answer broke the contract: a defect of the mock. */
  readonly responseViolations?: readonly FieldViolation[] | undefined
  /** The served method and path that was most likely meant. */
  readonly didYouMean?: string | null | undefined
  /** What an application did with an event that it must not do, and how it answered (G68). */
  readonly eventMistakes?: readonly { readonly mistake: EventMistake; readonly found: string }[] | undefined
}

/** What an application does with an event that it must not do (G68). */
export type EventMistake = 'forged' | 'stale' | 'treated_twice'

export interface EntryEnvironment {
  readonly name: string
  readonly clock: { now(): number }
  readonly test?: TestLabel | undefined
}

type Optional<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

/** Characters, or bytes of a buffer, that are kept of each body. */
export const KEPT = 16 * 1024

type Schemas = components['schemas']

/** Headers and body of one side of an exchange, secrets masked. */
export type MessageDocument = Schemas['Message']

/** One entry as people and programs read it; its shape is that of the control API. */
export type EntryDocument = Schemas['Request']

export type AccountState = NonNullable<EntryDocument['account_state']>
