import { expect, it } from 'vitest'
import { bundledPackages, billOfMaterials } from '../../.build/licenses.ts'
import { ROOT } from '../../.build/project.ts'
import { releaseNotes } from '../../.build/release/notes.ts'
import { ruleProblems } from '../../.build/release/workflows.ts'

const changelog = (heading: string, text = '### Added\n\n- A flag.\n') =>
  `# Changelog\n\nWhat users see.\n\n## ${heading}\n\n${text}\n## 1.1.0 (2026-01-02)\n\n- Old.\n`

it('the notes of a release are the section of its version in the changelog', () => {
  expect(releaseNotes(changelog('1.2.0 (2026-11-23)'), '1.2.0', 'v1.2.0')).toBe('### Added\n\n- A flag.\n')
  expect(releaseNotes(changelog('1.2.0 (not released yet)'), '1.2.0')).toContain('A flag')
})

it.each([
  ['a tag of another version', changelog('1.2.0 (2026-11-23)'), 'v1.3.0', 'the tag has to be v1.2.0'],
  ['a changelog that begins with another version', changelog('1.3.0 (2026-11-23)'), 'v1.2.0', 'has to be "## 1.2.0 ('],
  ['a tag while the changelog has no day', changelog('1.2.0 (not released yet)'), 'v1.2.0', 'a release has its day'],
  ['an empty section', changelog('1.2.0 (2026-11-23)', ''), 'v1.2.0', 'says nothing about 1.2.0'],
])('a release is refused for %s', (_, text, tag, message) => {
  expect(() => releaseNotes(text, '1.2.0', tag)).toThrow(message)
})

it('a workflow has to pin its actions by commit, and each of its jobs has to name its permissions', () => {
  const commit = 'a'.repeat(40)
  const workflow = (uses: string, permissions = 'permissions: { contents: read }') =>
    `permissions: {}\njobs:\n  build:\n    ${permissions}\n    steps:\n      - uses: ${uses}\n`
  expect(ruleProblems(workflow(`actions/checkout@${commit} # v4.2.2`))).toEqual([])
  expect(ruleProblems(workflow('./integrations/github-action'))).toEqual([])
  expect(ruleProblems(workflow('actions/checkout@v4'))).toEqual([expect.stringContaining('checkout@v4 is not pinned')])
  expect(ruleProblems(workflow(`actions/checkout@${commit}`))).toEqual([expect.stringContaining('not pinned')])
  expect(ruleProblems(workflow('./x', ''))).toEqual(['job build names no permissions'])
  expect(ruleProblems(workflow('./x').replace('{}', 'write-all'))).toEqual([expect.stringContaining('is missing')])
})

it('the bill of materials names each bundled package once, with version, license and address', () => {
  const modules = ['yaml/dist/index.js', 'yaml/dist/log.js', 'compute-gcd/lib/index.js', '@bufbuild/protobuf/dist/x.js']
  const packages = bundledPackages(modules.map((path) => `${ROOT}node_modules/${path}`))
  const product = { name: 'toolmock', version: '1.2.0', license: 'MIT' }
  const { components } = JSON.parse(billOfMaterials(product, packages)) as { components: object[] }
  expect(components).toMatchObject([
    {
      purl: expect.stringMatching(/^pkg:npm\/%40bufbuild\/protobuf@\d/) as string,
      licenses: [{ expression: expect.stringContaining('AND') as string }],
    },
    { name: 'compute-gcd', licenses: [{ license: { id: 'MIT' } }] },
    { name: 'yaml', licenses: [{ license: { id: 'ISC' } }] },
  ])
  // Without a license file, the text of each license that is named.
  expect(packages[0]?.text).toMatch(/Apache License[^]*Redistribution and use/)
  expect(packages[2]?.text).toContain('Copyright Eemeli Aro')
})
