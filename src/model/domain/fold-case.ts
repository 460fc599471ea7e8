/**
 * A text as comparisons without case see it. Each character is folded by itself, so that every part of a text is found in it:
 * `toLowerCase` alone writes the Σ at the end of a word as another letter than elsewhere.
 */
export function foldCase(text: string): string {
  const folded = text.toUpperCase().toLowerCase()
  return folded.includes('ς') ? folded.replaceAll('ς', 'σ') : folded
}
