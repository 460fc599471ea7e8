/** Each character by itself: `toLowerCase` writes a Σ at the end of a word as another letter than elsewhere. */
export function foldCase(text: string): string {
  const folded = text.toUpperCase().toLowerCase()
  return folded.includes('ς') ? folded.replaceAll('ς', 'σ') : folded
}
