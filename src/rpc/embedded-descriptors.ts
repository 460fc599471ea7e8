import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import { fromBinary } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'

/** Base64 of a message whose first field is a text or message, as descriptors begin. */
const BASE64 = /(["'`])(C[g-v][A-Za-z0-9+/_-]{20,}={0,2})\1/g

/** Where Python's generated code has serialized bytes. */
const PYTHON = /(?:AddSerializedFile\(|serialized_pb\s*=\s*(?:_b\()?)\s*/g

/** One literal of bytes or text of Python, which may follow another one. */
const LITERAL = /\s*b?(?:'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)")/y

/**
 * The descriptors that a generated file contains: as base64 in JavaScript and TypeScript, as bytes in Python. The file is read
 * as text; nothing of it runs.
 */
export function embeddedDescriptors(text: string): FileDescriptorProto[] {
  const encoded = [...text.matchAll(BASE64)].map(([, , base64 = '']) => Buffer.from(base64, 'base64'))
  const bytes = [...text.matchAll(PYTHON)].map(({ 0: before, index }) => pythonBytes(text, index + before.length))
  return [...encoded, ...bytes].flatMap(descriptorsIn)
}

function pythonBytes(text: string, from: number): Buffer {
  let octets = ''
  LITERAL.lastIndex = from
  for (let found = LITERAL.exec(text); found; found = LITERAL.exec(text))
    octets += unescaped(found[1] ?? found[2] ?? '')
  return Buffer.from(octets, 'latin1')
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(\n)|([\s\S]))/g
const LETTERS: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescaped(literal: string): string {
  type Groups = (string | undefined)[]
  return literal.replace(ESCAPE, (...[, hex, octal, continued, letter = '']: Groups): string => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
    return continued === undefined ? (LETTERS[letter] ?? letter) : ''
  })
}

/** Of one file, or of a set of files; none when the bytes are something else. */
function descriptorsIn(bytes: Buffer): FileDescriptorProto[] {
  try {
    const file = fromBinary(FileDescriptorProtoSchema, bytes)
    if (isFile(file)) return [withJsonNames(file)]
  } catch {
    // It may be a set.
  }
  try {
    const { file } = fromBinary(FileDescriptorSetSchema, bytes)
    return file.every(isFile) ? file.map(withJsonNames) : []
  } catch {
    return []
  }
}

function isFile({ name, messageType, enumType, service, extension }: FileDescriptorProto): boolean {
  const parts = messageType.length + enumType.length + service.length + extension.length
  return /^[\w./-]+\.proto$/.test(name) && parts > 0
}

/** Generators leave out names in JSON that follow from those of the fields. */
function withJsonNames(file: FileDescriptorProto): FileDescriptorProto {
  const name = (field: FieldDescriptorProto): void => {
    if (field.jsonName === '') field.jsonName = protoCamelCase(field.name)
  }
  const ofMessage = ({ field, extension, nestedType }: DescriptorProto): void => {
    for (const each of [...field, ...extension]) name(each)
    nestedType.forEach(ofMessage)
  }
  file.messageType.forEach(ofMessage)
  file.extension.forEach(name)
  return file
}
