import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ROOT } from '../../.build/project.ts'
import { reasonToSkip } from '../support/machine.ts'

/** A PATH with these programs, all of which succeed and print nothing. */
function onlyPrograms(...names: string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'toolmock-path-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 })
  }
  vi.stubEnv('PATH', folder)
}

it('a need of the tests is missing as soon as one of its parts is, and its reason names that part', () => {
  onlyPrograms('protoc')
  expect(reasonToSkip('gRPC for Python')).toMatch(/^missing: grpc_python_plugin[,;]/)
  expect(reasonToSkip('protoc')).toBeUndefined()
  onlyPrograms()
  expect(reasonToSkip('protoc')).toContain('missing: protoc, google/protobuf/empty.proto;')
})

it('the packages that .ci/run installs are those of CONTRIBUTING.md', () => {
  const installed = readFileSync(`${ROOT}.ci/run`, 'utf8').matchAll(/packages\+=\(([\w-]+)\)/g)
  const contributing = readFileSync(`${ROOT}CONTRIBUTING.md`, 'utf8')
  const names = Array.from(installed, ([, name = '']) => name)
  expect(names).toContain('chromium-headless-shell')
  expect(names.filter((name) => !contributing.includes(`\`${name}\``))).toEqual([])
})
