/** A magic link (2.3) that can be followed. */
export interface LinkView {
  /** The opaque part of the link. */
  readonly id: string
  readonly link: string
  readonly connector: string
  readonly identifier: string
  /** When it stops working, in the environment's own time. */
  readonly expiry: string
}
