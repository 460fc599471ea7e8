// What is taken out of the executables of Node before the program is put in.

const [ELF, MACH_O, PE] = ['\x7fELF', '\xcf\xfa\xed\xfe', 'MZ'].map((magic) => Buffer.from(magic, 'latin1')) as [
  Buffer,
  Buffer,
  Buffer,
]

/**
 * Without symbols (Linux) and without the signature of Node's maintainers, which the program inside would break (macOS, Windows).
 * @throws Error for another format
 */
export function bareExecutable(executable: Buffer): Buffer {
  const startsWith = (magic: Buffer): boolean => executable.subarray(0, magic.length).equals(magic)
  if (startsWith(ELF)) return withoutSymbols(executable)
  if (startsWith(MACH_O)) return withoutMachSignature(executable)
  if (startsWith(PE)) return withoutWindowsSignature(executable)
  throw new Error('this is no executable for Linux, macOS or Windows')
}

/** Sections that are not loaded are symbols and texts for debuggers. They are behind all that is loaded. */
function withoutSymbols(elf: Buffer): Buffer {
  const [ALLOCATED, NOBITS, SIZE] = [2n, 8, 64]
  const [tableAt, count, namesIndex] = [Number(elf.readBigUInt64LE(40)), elf.readUInt16LE(60), elf.readUInt16LE(62)]
  const sections = Array.from({ length: count }, (_, index) => {
    const header = Buffer.from(elf.subarray(tableAt + index * SIZE, tableAt + (index + 1) * SIZE))
    const isLoaded = (header.readBigUInt64LE(8) & ALLOCATED) !== 0n
    const size = header.readUInt32LE(4) === NOBITS ? 0 : Number(header.readBigUInt64LE(32))
    const start = Number(header.readBigUInt64LE(24))
    return { index, header, isLoaded, start, end: start + size }
  })
  const loadedEnd = Math.max(...sections.filter(({ isLoaded }) => isLoaded).map(({ end }) => end))
  const staying = sections.filter(({ index, isLoaded }) => isLoaded || index === 0 || index === namesIndex)
  const names = sections[namesIndex]
  if (!names || names.start < loadedEnd) throw new Error('the names of the sections are among what is loaded')
  const texts = elf.subarray(names.start, names.end)
  names.header.writeBigUInt64LE(BigInt(loadedEnd), 24)
  const newIndex = (index: number): number =>
    Math.max(
      0,
      staying.findIndex((section) => section.index === index),
    )
  for (const { header } of staying) header.writeUInt32LE(newIndex(header.readUInt32LE(40)), 40)
  const padding = Buffer.alloc((8 - ((loadedEnd + texts.length) % 8)) % 8)
  const stripped = Buffer.concat([elf.subarray(0, loadedEnd), texts, padding, ...staying.map(({ header }) => header)])
  stripped.writeBigUInt64LE(BigInt(loadedEnd + texts.length + padding.length), 40)
  stripped.writeUInt16LE(staying.length, 60)
  stripped.writeUInt16LE(newIndex(namesIndex), 62)
  return stripped
}

/** The command and the data of the signature are the last ones. */
function withoutMachSignature(mach: Buffer): Buffer {
  const [LC_SEGMENT_64, LC_CODE_SIGNATURE] = [0x19, 0x1d]
  const unsigned = Buffer.from(mach)
  const count = mach.readUInt32LE(16)
  let linkEdit = 0
  for (let index = 0, at = 32; index < count; index++, at += mach.readUInt32LE(at + 4)) {
    const command = mach.readUInt32LE(at)
    if (command === LC_SEGMENT_64 && mach.toString('latin1', at + 8, at + 18) === '__LINKEDIT') linkEdit = at
    if (command !== LC_CODE_SIGNATURE) continue
    const [commandSize, start, size] = [4, 8, 12].map((offset) => mach.readUInt32LE(at + offset)) as [
      number,
      number,
      number,
    ]
    if (index !== count - 1 || start + size !== mach.length) throw new Error('the signature is not at the end')
    unsigned.writeUInt32LE(count - 1, 16)
    unsigned.writeUInt32LE(mach.readUInt32LE(20) - commandSize, 20)
    unsigned.fill(0, at, at + commandSize)
    unsigned.writeBigUInt64LE(mach.readBigUInt64LE(linkEdit + 48) - BigInt(size), linkEdit + 48)
    return unsigned.subarray(0, start)
  }
  return unsigned
}

/** The certificate is behind all that is loaded; the fifth data directory says where. */
function withoutWindowsSignature(pe: Buffer): Buffer {
  const certificates = pe.readUInt32LE(60) + 24 + 112 + 4 * 8
  const start = pe.readUInt32LE(certificates)
  const unsigned = Buffer.from(start === 0 ? pe : pe.subarray(0, start))
  unsigned.fill(0, certificates, certificates + 8)
  return unsigned
}
