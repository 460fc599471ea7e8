import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, it } from 'vitest'
import { postgresPrograms } from './postgres.ts'

const [SHELL, BROWSER] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/**
 * Chromium at its path on Debian, without a window of its own where that is installed: it takes less than half of the processor
 * time. `TOOLMOCK_TEST_BROWSER` names another one.
 */
export const CHROMIUM = process.env.TOOLMOCK_TEST_BROWSER ?? (existsSync(SHELL) ? SHELL : BROWSER)

/** Debian's Python, which has Debian's gRPC. */
export const PYTHON = '/usr/bin/python3'

/** The output of a program that ends well; undefined for any other. */
function output(program: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined
const programs = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, () => isThere(name)])) as Record<string, () => boolean>

/** The compiler, and the definitions that Debian has in a package of their own. */
const PROTOC = {
  ...programs('protoc'),
  'google/protobuf/empty.proto': () => output('protoc', '-o', '/dev/null', 'google/protobuf/empty.proto') !== undefined,
}

const POSTGRESQL = { 'initdb below /usr/lib/postgresql': () => postgresPrograms() !== undefined }

/**
 * What tests need of the machine: each part with its probe. CONTRIBUTING.md names the packages of Debian, `.ci/run` installs
 * them.
 */
const NEEDS = {
  chromium: { [CHROMIUM]: () => existsSync(CHROMIUM) },
  bash: programs('bash', 'curl', 'sed'),
  zsh: programs('zsh', 'curl', 'sed'),
  protoc: PROTOC,
  'gRPC for Python': {
    ...PROTOC,
    grpc_python_plugin: () => output('/bin/sh', '-c', 'command -v grpc_python_plugin') !== undefined,
    'grpc in /usr/bin/python3': () => output(PYTHON, '-c', 'import grpc, google.protobuf') !== undefined,
  },
  pytest: {
    'pytest, xdist and requests in /usr/bin/python3': () =>
      output(PYTHON, '-c', 'import pytest, xdist, requests') !== undefined,
  },
  go: { go: () => output('go', 'version') !== undefined },
  java: programs('java'),
  ruby: programs('ruby'),
  postgresql: POSTGRESQL,
  'PostgreSQL and a load balancer': { ...POSTGRESQL, haproxy: () => isThere('haproxy') },
  'one core': programs('taskset'),
  terminal: { 'script of util-linux': () => output('script', '--version')?.includes('util-linux') ?? false },
} satisfies Record<string, Record<string, () => boolean>>

export type Need = keyof typeof NEEDS

/** Why tests with this need cannot run here; undefined where they can. */
export function reasonToSkip(need: Need): string | undefined {
  const missing = Object.entries(NEEDS[need]).flatMap(([part, probe]) => (probe() ? [] : part))
  return missing.length === 0 ? undefined : `missing: ${missing.join(', ')}; CONTRIBUTING.md names the packages`
}

/** `describe` for tests with a need. Where it is missing they are skipped with the reason; on CI that is a failure. */
export function describeWith(need: Need, title: string, tests: () => void): void {
  const reason = reasonToSkip(need)
  if (reason !== undefined && process.env.CI) {
    it(title, () => {
      throw new Error(reason)
    })
  } else describeUnless(reason, title, tests)
}

/** `describe` for tests that a machine may not permit, for instance without root: they are skipped with a reason, on CI too. */
export function describeUnless(reason: string | undefined, title: string, tests: () => void): void {
  if (reason === undefined) describe(title, tests)
  else describe.skip(`${title} (skipped: ${reason})`, tests)
}
