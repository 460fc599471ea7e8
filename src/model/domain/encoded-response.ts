export interface EncodedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string | Buffer
  /** The body in a form that no parser accepts, where it is not text. */
  readonly malformed?: Buffer
  /** Whether its head must name no length. */
  readonly namesNoLength?: boolean
}
