/**
 * Whether these bytes are there. Compared as numbers of eight bytes, which is much faster than one by one; bytes that make a
 * number unequal to itself are no text, or are taken for different, which costs time only.
 */
export function startsWith(view: DataView, at: number, segment: DataView): boolean {
  const length = segment.byteLength
  let offset = 0
  for (; offset + 8 <= length; offset += 8)
    if (view.getFloat64(at + offset) !== segment.getFloat64(offset)) return false
  for (; offset < length; offset++) if (view.getUint8(at + offset) !== segment.getUint8(offset)) return false
  return true
}

/** Whether none of four bytes is a quote, a backslash, a control character or beyond ASCII; it may say no too often. */
export function arePlain(four: number): boolean {
  const quotes = four ^ 0x22222222
  const backslashes = four ^ 0x5c5c5c5c
  const found =
    four |
    ((four - 0x20202020) & ~four) |
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes)
  return (found & 0x80808080) === 0
}
