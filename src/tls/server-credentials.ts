import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { makeDirectory } from '../disk/make-directory.ts'
import { StartError } from '../domain/start-error.ts'
import type { CertificateFiles, TemporaryCertificate, TlsCredentials, TlsOptions } from './options.ts'

export interface ServerCredentials extends TlsCredentials {
  /** The certificate that clients have to trust; absent when the server has one of its own. */
  readonly authorityFile?: string
  /** Removes what was written for this run only. */
  release(): Promise<void>
}

/** The certificate and key to serve with. @throws StartError naming the file and what is wrong with it */
export async function serverCredentials(options: TlsOptions, now: number): Promise<ServerCredentials> {
  return 'cert' in options ? ownCertificate(options) : temporary(options, now)
}

async function ownCertificate(files: CertificateFiles): Promise<ServerCredentials> {
  const [cert, key] = await Promise.all([readPem(files.cert, 'certificate'), readPem(files.key, 'key')])
  checked(files.cert, 'no certificate in PEM form', { cert })
  checked(files.key, 'no private key in PEM form, or one with a passphrase', { key })
  checked(files.key, `not the key of the certificate in ${files.cert}`, { cert, key })
  return { cert, key, release: () => Promise.resolve() }
}

async function readPem(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new StartError(`the TLS ${what} ${file} cannot be read: ${reason(error)}.`)
  }
}

/** OpenSSL itself is asked: it is what will use them. */
function checked(file: string, problem: string, credentials: Partial<TlsCredentials>): void {
  try {
    createSecureContext(credentials)
  } catch (error) {
    throw new StartError(`${file} holds ${problem} (${error instanceof Error ? error.message : String(error)}).`)
  }
}

async function temporary({ hosts, authorityFile }: TemporaryCertificate, now: number): Promise<ServerCredentials> {
  const { temporaryCertificate } = await import('./temporary-authority.ts')
  const { authority, cert, key } = temporaryCertificate(hosts, now)
  if (authorityFile !== undefined) {
    return {
      cert,
      key,
      authorityFile: await write(resolve(authorityFile), authority),
      release: () => Promise.resolve(),
    }
  }
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-'))
  const file = await write(join(folder, 'authority.pem'), authority)
  return { cert, key, authorityFile: file, release: () => rm(folder, { recursive: true, force: true }) }
}

async function write(file: string, text: string): Promise<string> {
  try {
    await makeDirectory(dirname(file))
    await writeFile(file, text)
    return file
  } catch (error) {
    throw new StartError(`the authority's certificate cannot be written to ${file}: ${reason(error)}.`)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a folder',
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? (code || String(error))
}
