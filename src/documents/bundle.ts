import type { SeedBundle } from '../domain/seed.ts'

/** A checked bundle as the build ships it (`dist/bundled-seed.json`). */
export function serializeBundle(bundle: SeedBundle): string {
  return JSON.stringify(bundle)
}

/** Takes only what `serializeBundle` made: nothing is checked again. */
export function parseBundle(text: string): SeedBundle {
  return JSON.parse(text) as SeedBundle
}
