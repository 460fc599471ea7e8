import { generateKeyPairSync } from 'node:crypto'
import { certificate } from './certificate.ts'
import type { TlsCredentials } from './options.ts'

const DAY = 86_400_000
const LOOPBACK = ['localhost', '127.0.0.1', '::1']
/** Addresses to serve on that nobody can call. */
const EVERY_ADDRESS = ['0.0.0.0', '::']

/** A server's certificate and key, and the certificate of the authority that signed it, all PEM. */
export interface TemporaryCertificate extends TlsCredentials {
  readonly authority: string
}

/**
 * Makes an authority and a certificate by it for loopback and the given hosts. Keys on an elliptic curve: an RSA key alone
 * takes longer than the whole start. The authority's key is forgotten at once, so that nobody can sign anything else with it.
 */
export function temporaryCertificate(hosts: readonly string[], now: number): TemporaryCertificate {
  const [ours, server] = [keyPair(), keyPair()]
  // A clock that is a little off, in a container or a virtual machine, does no harm; a month is more than a test run needs.
  const common = { issuer: AUTHORITY, issuerKey: ours.privateKey, validFrom: now - DAY, validTo: now + 30 * DAY }
  const names = [...new Set([...LOOPBACK, ...hosts])].filter((host) => !EVERY_ADDRESS.includes(host))
  return {
    authority: certificate({ ...common, subject: AUTHORITY, publicKey: ours.publicKey }),
    cert: certificate({ ...common, subject: 'toolmock', publicKey: server.publicKey, hosts: names }),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

const AUTHORITY = 'toolmock temporary authority'

function keyPair() {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
}
