import type { BuildOptions } from 'esbuild'

/** What every file of the package is like. Names are not shortened: stacks stay readable. */
export const FORM = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.20',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions
