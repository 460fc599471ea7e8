import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import { fromBinary } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'

/** Base64 of a message whose first field is a text or message, as descriptors begin. */
const BASE64 = /(["'`])(C[g-v][A-Za-z0-9+/_-]{20,}={0,2})\1/g

/** Where Python's generated code has serialized bytes. */
const PYTHON = /(?:AddSerializedFile\(|serialized_pb\s*=\s*(?:_b\()?)\s*/g

/** A literal of bytes or text of Python. */
const LITERAL = /b?(?:'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)")/y

/** Base64 in JavaScript and TypeScript, bytes in Python. The file is read as text; nothing of it runs. */
export function embeddedDescriptors(text: string): FileDescriptorProto[] {
  const encoded = [...text.matchAll(BASE64)].map(([, , base64 = '']) => Buffer.from(base64, 'base64'))
  const bytes = [...text.matchAll(PYTHON)].map(({ 0: before, index }) => pythonBytes(text, index + before.length))
  return [...encoded, ...bytes].flatMap(descriptorsIn)
}

function pythonBytes(text: string, from: number): Buffer {
  LITERAL.lastIndex = from
  const [, single, double = ''] = LITERAL.exec(text) ?? []
  return Buffer.from(unescapedLiteral(single ?? double), 'latin1')
}

/** As protoc writes them: octal or hexadecimal digits, and letters. */
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|([\s\S]))/g
const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

function unescapedLiteral(literal: string): string {
  type Groups = (string | undefined)[]
  return literal.replace(ESCAPE, (...[, hex, octal, letter = '']: Groups): string => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    return octal === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(octal, 8))
  })
}

/** None when the bytes are something else. */
function descriptorsIn(bytes: Buffer): FileDescriptorProto[] {
  try {
    const file = fromBinary(FileDescriptorProtoSchema, bytes)
    return isWrittenFile(file) ? [withJsonNames(file)] : []
  } catch {
    return []
  }
}

function isWrittenFile({ name, messageType, enumType, service, extension }: FileDescriptorProto): boolean {
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
