import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { manifestOf } from './project.ts'

/** The notices that the licenses of the bundled packages require: name, version and license text of each package. */
export function licenseTexts(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((path) => packageFolder(path) ?? []))
  const sections = [...folders].map((folder) => ({ ...manifestOf(folder), text: licenseText(folder) }))
  return sections
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
    .map(({ name, version, license, text }) => `${name} ${version} (${license ?? 'see below'})\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** The folder of the package that a module belongs to: `node_modules/a/node_modules/@b/c` for `node_modules/a/node_modules/@b/c/lib/d.js`. */
function packageFolder(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0]
}

function licenseText(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const file = names.find((name) => /^(licen[cs]e|copying)(\.|-|$)/i.test(name))
  return file ? readFileSync(`${folder}/${file}`, 'utf8').trim() : 'The package has no license file.'
}
