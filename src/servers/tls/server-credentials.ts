import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createSecureContext, rootCertificates } from 'node:tls'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { systemCode, systemReason } from '../../model/domain/system-error.ts'

/** Where the certificate of an HTTPS server comes from (G50). */
export type TlsOptions = CertificateFiles | TemporaryCertificate

/** PEM files of the user: the certificate, with its chain, and its private key. */
interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate that is made at the start, by a certificate authority that is made at the start. */
interface TemporaryCertificate {
  /** Names and addresses beside those of loopback. */
  readonly hosts: readonly string[]
  /** Where the certificate of the authority is written, for clients to trust; a temporary folder when absent. */
  readonly authorityFile?: string | undefined
}

/** What the HTTPS server of Node.js takes, both PEM. */
interface TlsCredentials {
  readonly cert: string
  readonly key: string
}

export interface ServerCredentials extends TlsCredentials {
  /** The file of the certificate authority that clients have to trust; absent for certificates of the user. */
  readonly authorityFile?: string
  /** The variables by which clients of every language trust it; absent for certificates of the user. */
  readonly trust?: Readonly<Record<string, string>>
  /** Removes the files that were written for this run only. */
  release(): Promise<void>
}

/** The certificate and key to serve with. @throws StartError naming the file and what is wrong with it */
export async function serverCredentials(options: TlsOptions, now: number): Promise<ServerCredentials> {
  return 'cert' in options ? userCredentials(options) : temporaryCredentials(options, now)
}

async function userCredentials(files: CertificateFiles): Promise<ServerCredentials> {
  const [cert, key] = await Promise.all([readPem(files.cert, 'certificate'), readPem(files.key, 'key')])
  checkCredentials(files.cert, 'no certificate in PEM form', { cert })
  checkCredentials(files.key, 'no private key in PEM form, or one with a passphrase', { key })
  checkCredentials(files.key, `not the key of the certificate in ${files.cert}`, { cert, key })
  return { cert, key, release: () => Promise.resolve() }
}

async function readPem(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new StartError(`the TLS ${what} ${file} cannot be read: ${fileErrorReason(error)}.`)
  }
}

/** OpenSSL does the check, because it is what will use them. */
function checkCredentials(file: string, problem: string, credentials: Partial<TlsCredentials>): void {
  // OpenSSL takes an empty text as none.
  if (Object.values(credentials).includes('')) throw new StartError(`${file} holds ${problem} (it is empty).`)
  try {
    createSecureContext(credentials)
  } catch (error) {
    throw new StartError(`${file} holds ${problem} (${error instanceof Error ? error.message : String(error)}).`)
  }
}

async function temporaryCredentials(
  { hosts, authorityFile }: TemporaryCertificate,
  now: number,
): Promise<ServerCredentials> {
  const { authority, cert, key } = await makeTemporaryCertificate(hosts, now)
  const temporary = () => mkdtemp(join(tmpdir(), 'toolmock-')).catch(certificateNotWritten(tmpdir()))
  const folder = authorityFile === undefined ? await temporary() : undefined
  const file = await writeTextFile(
    folder === undefined ? resolve(authorityFile ?? '') : join(folder, 'authority.pem'),
    authority,
  )
  const all = `${authority}\n${await systemAuthorities()}`
  const trust = trustVariables(file, await writeTextFile(file.replace(/authority\.pem$/, 'authorities.pem'), all))
  const release = async (): Promise<void> => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
  return { cert, key, authorityFile: file, trust, release }
}

const DAY = 86_400_000
const LOOPBACK = ['localhost', '127.0.0.1', '::1']
/** Addresses to listen at that no client can call. */
const ALL_ADDRESSES = ['0.0.0.0', '::']
const AUTHORITY = 'toolmock temporary authority'

/** An RSA key takes longer than the whole start. The authority's key is dropped, so that it signs nothing else. */
export async function makeTemporaryCertificate(
  hosts: readonly string[],
  now: number,
): Promise<TlsCredentials & { readonly authority: string }> {
  const { certificatePem: certificate } = await import('./certificate.ts')
  const makeKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const [authority, server] = [makeKeys(), makeKeys()]
  // Valid from a day ago, because the clock of a container may be slow, for a month, which is more than a test run needs.
  const common = { issuer: AUTHORITY, issuerKey: authority.privateKey, validFrom: now - DAY, validTo: now + 30 * DAY }
  const names = [...new Set([...LOOPBACK, ...hosts])].filter((host) => !ALL_ADDRESSES.includes(host))
  return {
    authority: certificate({ ...common, subject: AUTHORITY, publicKey: authority.publicKey }),
    cert: certificate({ ...common, subject: 'toolmock', publicKey: server.publicKey, hosts: names }),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

async function writeTextFile(file: string, text: string): Promise<string> {
  await makeDirectory(dirname(file))
    .then(() => writeFile(file, text))
    .catch(certificateNotWritten(file))
  return file
}

function certificateNotWritten(file: string): (error: unknown) => never {
  return (error) => {
    throw new StartError(`the certificate of the authority cannot be written to ${file}: ${fileErrorReason(error)}.`)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is no folder',
  EACCES: 'this user may not',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a folder',
}

function fileErrorReason(error: unknown): string {
  return REASONS[systemCode(error) ?? ''] ?? systemReason(error)
}

/** Node.js adds the authorities of this file to its own. */
const ADDING = 'NODE_EXTRA_CA_CERTS'

/** OpenSSL, Ruby and Go; Python's requests; gRPC's C core; curl. Each takes this file in place of its own authorities. */
const REPLACING = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', 'CURL_CA_BUNDLE']

/** @param authorities the file of the authority together with the system's own */
function trustVariables(authority: string, authorities: string): Record<string, string> {
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
async function systemAuthorities(): Promise<string> {
  for (const file of SYSTEM_FILES) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.includes('BEGIN CERTIFICATE')) return text
  }
  return rootCertificates.join('\n')
}
