import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import * as x509 from '@peculiar/asn1-x509'

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const COMMON_NAME = '2.5.4.3'

/** The content of a certificate, and its issuer. Node.js can read certificates, but not make them. */
export interface CertificateRequest {
  /** Both are common names; an authority that signs itself has the same for both. */
  readonly subject: string
  readonly issuer: string
  readonly publicKey: KeyObject
  /** The issuer's private key, on an elliptic curve. */
  readonly issuerKey: KeyObject
  /** Milliseconds since the Unix epoch. */
  readonly validFrom: number
  readonly validTo: number
  /** The names and addresses of a server; absent for an authority. */
  readonly hosts?: readonly string[]
}

export function certificatePem(request: CertificateRequest): string {
  const { subject, issuer, publicKey, issuerKey, validFrom, validTo } = request
  const spki = spkiOf(publicKey)
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 })
  const content = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: serialOf(spki),
    signature: algorithm,
    issuer: commonName(issuer),
    validity: new x509.Validity({ notBefore: new Date(validFrom), notAfter: new Date(validTo) }),
    subject: commonName(subject),
    subjectPublicKeyInfo: AsnConvert.parse(spki, x509.SubjectPublicKeyInfo),
    extensions: new x509.Extensions([
      ...(request.hosts ? serverExtensions(request.hosts) : authorityExtensions()),
      ...keyIdentifiers(spki, spkiOf(createPublicKey(issuerKey))),
    ]),
  })
  const signed = new x509.Certificate({
    tbsCertificate: content,
    signatureAlgorithm: algorithm,
    signatureValue: bytes(sign('sha256', Buffer.from(AsnConvert.serialize(content)), issuerKey)),
  })
  return pemText(Buffer.from(AsnConvert.serialize(signed)))
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

/** The hash of the key is unique, because the key is new each time. A serial number is positive, and at most 20 bytes long. */
function serialOf(spki: Buffer): ArrayBuffer {
  const serial = keyDigest(spki)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  return bytes(serial)
}

function keyDigest(spki: Buffer): Buffer {
  return createHash('sha256').update(spki).digest().subarray(0, 16)
}

function commonName(text: string): x509.Name {
  const value = new x509.AttributeValue({ utf8String: text })
  return new x509.Name([
    new x509.RelativeDistinguishedName([new x509.AttributeTypeAndValue({ type: COMMON_NAME, value })]),
  ])
}

function authorityExtensions(): x509.Extension[] {
  return [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(x509.KeyUsageFlags.keyCertSign), true),
  ]
}

function serverExtensions(hosts: readonly string[]): x509.Extension[] {
  const names = hosts.map((host) => new x509.GeneralName(isIP(host) ? { iPAddress: host } : { dNSName: host }))
  return [
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(x509.KeyUsageFlags.digitalSignature), true),
    extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage([x509.id_kp_serverAuth]), false),
    extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(names), false),
  ]
}

/** Optional in the standard's profile for leaves, required by strict verifiers such as Python's. */
function keyIdentifiers(subject: Buffer, issuer: Buffer): x509.Extension[] {
  const keyIdentifier = new x509.KeyIdentifier(bytes(keyDigest(issuer)))
  return [
    extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(bytes(keyDigest(subject))), false),
    extension(x509.id_ce_authorityKeyIdentifier, new x509.AuthorityKeyIdentifier({ keyIdentifier }), false),
  ]
}

function extension(extnID: string, value: object, critical: boolean): x509.Extension {
  return new x509.Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) })
}

function bytes(buffer: Buffer): ArrayBuffer {
  return new Uint8Array(buffer).buffer
}

function pemText(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
