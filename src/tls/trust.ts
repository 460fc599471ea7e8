import { readFile } from 'node:fs/promises'
import { rootCertificates } from 'node:tls'

/** The variables by which clients find the authorities that they trust, each with a file to name in it. */
export type TrustVariables = Readonly<Record<string, string>>

/** Node.js adds the authorities of this file to its own. */
const ADDING = 'NODE_EXTRA_CA_CERTS'

/** OpenSSL, Ruby and Go; Python's requests; gRPC's C core; curl. Each takes this file in place of its own authorities. */
const REPLACING = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', 'CURL_CA_BUNDLE']

/** @param authorities the file of the authority together with the system's own */
export function trustVariables(authority: string, authorities: string): TrustVariables {
  return { [ADDING]: authority, ...Object.fromEntries(REPLACING.map((name) => [name, authorities])) }
}

/** Where systems keep their authorities: Debian, Fedora, openSUSE, older Red Hat, Alpine and macOS. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
]

/** The system's own authorities as PEM; those of Node.js where the system has no such file. */
export async function systemAuthorities(): Promise<string> {
  for (const file of SYSTEM_FILES) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.includes('BEGIN CERTIFICATE')) return text
  }
  return rootCertificates.join('\n')
}
