import type { AppOptions } from '../app/app.ts'
import type { Arguments } from './arguments.ts'
import type { TLS } from './flags.ts'
import { UsageError } from './usage-error.ts'

type TlsArguments = Arguments<typeof TLS>

/** @throws UsageError for flags that contradict each other, or one without the other */
export function refuseTls(read: TlsArguments): void {
  twoCertificates(read)
  halfCertificate(read)
}

/** A flag wins over the variable of the other one; said in the same place, neither does. */
function twoCertificates({ values, given }: TlsArguments): void {
  if (values.tls && values['tls-cert'] !== undefined && given.get('tls') === given.get('tls-cert')) {
    throw new UsageError('--tls makes a certificate and --tls-cert names one: give one of the two.')
  }
}

function halfCertificate({ values }: TlsArguments): void {
  const [cert, key] = [values['tls-cert'], values['tls-key']]
  if (cert !== undefined && key === undefined) throw new UsageError('--tls-cert needs --tls-key, the file of its key.')
  if (key !== undefined && cert === undefined)
    throw new UsageError('--tls-key needs --tls-cert, the file of its certificate.')
}

/** The certificate to serve with; `throwAway` is how one is made. */
export function tlsOf({ values, given }: TlsArguments, temporary: () => AppOptions['tls']) {
  const [cert, key] = [values['tls-cert'], values['tls-key']]
  const own = cert !== undefined && key !== undefined && !(values.tls && given.get('tls') === 'flag')
  if (own) return { cert, key }
  return values.tls ? temporary() : undefined
}
