/* What adapters use of runners that the build does not install; test/runners checks it against their own types. */

declare module '@jest/globals' {
  type Hook = (hook: () => unknown) => void
  export const beforeAll: Hook
  export const beforeEach: Hook
  export const afterEach: Hook
  export const afterAll: Hook
  export const expect: {
    getState(): { readonly currentTestName?: string; readonly testPath?: string }
  }
}

declare module '@playwright/test' {
  interface Locator {
    count(): Promise<number>
    check(): Promise<void>
    click(): Promise<void>
    fill(text: string): Promise<void>
  }
  export interface Page {
    goto(url: string): Promise<unknown>
    url(): string
    isClosed(): boolean
    waitForURL(wanted: (url: URL) => boolean, options: { waitUntil: 'commit' }): Promise<void>
    getByRole(role: 'button' | 'radio', options: { name: string; exact: true }): Locator
    getByLabel(text: string, options?: { exact: true }): Locator
  }
  interface PageExpectation {
    toHaveURL(url: RegExp): Promise<void>
    not: { toHaveURL(url: RegExp): Promise<void> }
  }
  export function expect(page: Page, message: string): PageExpectation

  export interface PlaywrightTestArgs {
    page: Page
  }
  export interface PlaywrightTestOptions {
    baseURL: string | undefined
  }
  export interface PlaywrightWorkerArgs {
    browserName: string
  }
  export interface PlaywrightWorkerOptions {
    headless: boolean
  }
  export interface TestInfo {
    readonly titlePath: readonly string[]
    readonly file: string
    readonly line: number
    readonly status?: string
    readonly expectedStatus: string
  }
  type Fixture<Value, Args> = (args: Args, use: (value: Value) => Promise<void>, info: TestInfo) => Promise<void>
  type Fixtures<T, Args> = { [K in keyof T]: Fixture<T[K], Args> | [Fixture<T[K], Args>, FixtureOptions] }
  interface FixtureOptions {
    scope?: 'worker'
    auto?: boolean
  }
  export interface TestType<TestArgs, WorkerArgs> {
    extend<T, W>(fixtures: Fixtures<T & W, TestArgs & WorkerArgs & T & W>): TestType<TestArgs & T, WorkerArgs & W>
  }
  export const test: TestType<
    PlaywrightTestArgs & PlaywrightTestOptions,
    PlaywrightWorkerArgs & PlaywrightWorkerOptions
  >
}
