import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Metafile } from 'esbuild'
import { manifestOf, ROOT } from './project.ts'

/** The text that the licenses of the bundled packages ask to be passed on: name, version and license of each. */
export function licenseTexts(metafile: Metafile): string {
  const folders = new Set(Object.keys(metafile.inputs).flatMap((input) => packageFolder(input) ?? []))
  const sections = [...folders].map((folder) => ({ ...manifestOf(ROOT + folder), text: licenseText(ROOT + folder) }))
  return sections
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
    .map(({ name, version, license, text }) => `${name} ${version} (${license ?? 'see below'})\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** `node_modules/a/node_modules/@b/c/lib/d.js` is of `node_modules/a/node_modules/@b/c`. */
function packageFolder(input: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0]
}

function licenseText(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const file = names.find((name) => /^(licen[cs]e|copying)(\.|-|$)/i.test(name))
  return file ? readFileSync(`${folder}/${file}`, 'utf8').trim() : 'The package carries no license file of its own.'
}
