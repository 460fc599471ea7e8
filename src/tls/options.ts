/** Where the certificate of an HTTPS server comes from (G50). */
export type TlsOptions = CertificateFiles | TemporaryCertificate

/** PEM files of one's own: the certificate, with whatever chain it needs, and its private key. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate made at the start, by an authority made at the start; both end with the process. */
export interface TemporaryCertificate {
  /** Names and addresses beside those of loopback. */
  readonly hosts: readonly string[]
  /** Where the authority's certificate is written, for clients to trust; a temporary folder when absent. */
  readonly authorityFile?: string | undefined
}

/** What node's HTTPS server takes. */
export interface TlsCredentials {
  readonly cert: string
  readonly key: string
}
