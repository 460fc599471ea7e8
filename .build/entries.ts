/** What the package exports: modules of its users, each by `import` and by `require`. */
export const ENTRIES = [
  { name: 'index', source: 'src/index.ts', packages: [] },
  { name: 'vitest', source: 'src/app/runners/vitest.ts', packages: ['vitest'] },
  { name: 'playwright', source: 'src/app/runners/playwright.ts', packages: ['@playwright/test'] },
  { name: 'jest', source: 'src/app/runners/jest.ts', packages: [] },
  { name: 'node-test', source: 'src/app/runners/node-test.ts', packages: [] },
] as const satisfies readonly Entry[]

interface Entry {
  /** Of its files in `dist`. */
  readonly name: string
  readonly source: string
  /** What its types may import: a package that its users have installed. */
  readonly packages: readonly string[]
}
