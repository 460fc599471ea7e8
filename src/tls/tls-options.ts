/** Where the certificate of an HTTPS server comes from (G50). */
export type TlsOptions = CertificateFiles | TemporaryCertificate

/** PEM files of the user: the certificate, with its chain, and its private key. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate that is made at the start, by a certificate authority that is made at the start. */
export interface TemporaryCertificate {
  /** Names and addresses beside those of loopback. */
  readonly hosts: readonly string[]
  /** Where the certificate of the authority is written, for clients to trust; a temporary folder when absent. */
  readonly authorityFile?: string | undefined
}
