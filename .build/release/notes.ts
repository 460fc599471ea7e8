import { readFileSync } from 'node:fs'
import { manifestOf, ROOT } from '../project.ts'

// `tsx .build/release/notes.ts [TAG]` prints the notes of this version, for the page of its release.

/**
 * The section of this version in CHANGELOG.md.
 * @param tag `v1.2.3`, which has to be this version; its section then names the day of the release
 * @throws Error that says what differs
 */
export function releaseNotes(changelog: string, version: string, tag?: string): string {
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`the tag is ${tag}, and package.json has version ${version}: the tag has to be v${version}`)
  const sections = changelog.split(/^(?=## )/m).slice(1)
  const [first = ''] = sections
  const [heading = '', ...lines] = first.split('\n')
  const [, found, state] = /^## (\S+) \((.*)\)$/.exec(heading) ?? []
  if (found !== version)
    throw new Error(`CHANGELOG.md begins with "${heading}"; it has to be "## ${version} (YYYY-MM-DD)"`)
  if (tag !== undefined && !/^\d{4}-\d\d-\d\d$/.test(state ?? ''))
    throw new Error(`CHANGELOG.md says "${heading}"; a release has its day: "## ${version} (YYYY-MM-DD)"`)
  const notes = lines.join('\n').trim()
  if (notes === '') throw new Error(`CHANGELOG.md says nothing about ${version}`)
  return `${notes}\n`
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(
    releaseNotes(readFileSync(`${ROOT}CHANGELOG.md`, 'utf8'), manifestOf(ROOT).version, process.argv[2]),
  )
