import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { manifestOf, type PackageManifest, ROOT } from './project.ts'

/** A package whose code is in the bundle. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** In the form of SPDX. */
  readonly license: string
  readonly text: string
}

/**
 * The packages that modules of the bundle belong to, by name.
 * @throws Error that names a package whose license is unknown
 */
export function bundledPackages(modules: readonly string[]): BundledPackage[] {
  const folders = new Set(modules.flatMap((path) => packageFolder(path) ?? []))
  return [...folders]
    .map((folder) => {
      const manifest = manifestOf(folder)
      const license = licenseOf(manifest)
      return { name: manifest.name, version: manifest.version, license, text: licenseText(folder, license) }
    })
    .sort((a, b) => `${a.name} ${a.version}`.localeCompare(`${b.name} ${b.version}`, 'en'))
    .filter((each, at, all) => each.name !== all[at - 1]?.name || each.version !== all[at - 1]?.version)
}

/** The notices that the licenses of the bundled packages require: each license text below the packages that have it. */
export function licenseTexts(packages: readonly BundledPackage[]): string {
  return [...new Set(packages.map(({ text }) => text))]
    .map((text) => {
      const names = packages.filter((each) => each.text === text)
      return `${names.map(({ name, version, license }) => `${name} ${version} (${license})\n`).join('')}\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** The bundled packages as a bill of materials in the format CycloneDX. It has no time and no random number, so that builds are equal. */
export function billOfMaterials(
  { name, version, license = '' }: PackageManifest,
  packages: readonly BundledPackage[],
): string {
  const component = (each: Omit<BundledPackage, 'text'>, type: string) => {
    const purl = `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`
    const licenses = [/[ ()]/.test(each.license) ? { expression: each.license } : { license: { id: each.license } }]
    return { type, 'bom-ref': purl, name: each.name, version: each.version, licenses, purl }
  }
  const root = component({ name, version, license }, 'application')
  const components = packages.map((each) => component(each, 'library'))
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: root },
    components,
    dependencies: [{ ref: root.purl, dependsOn: components.map(({ purl }) => purl) }],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

/** The folder of the package that a module belongs to: `node_modules/a/node_modules/@b/c` for `node_modules/a/node_modules/@b/c/lib/d.js`. */
function packageFolder(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0]
}

/** Old manifests have `licenses`, a list of objects. */
function licenseOf({ name, license, licenses }: PackageManifest): string {
  const found = license ?? licenses?.map(({ type }) => type).join(' OR ')
  if (found === undefined || found === '') throw new Error(`the bundled package ${name} names no license`)
  return found
}

/** The package's own file; without one, the standard text of its license. */
function licenseText(folder: string, license: string): string {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const file = names.find((name) => /^(licen[cs]e|copying)(\.|-|$)/i.test(name))
  if (file) return readFileSync(`${folder}/${file}`, 'utf8').trim()
  const ids = license.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /)
  const texts = ids.map((id) => readFileSync(`${ROOT}.build/licenses/${id}.txt`, 'utf8').trim())
  return ['The package has no license file. Copyright of its authors.', ...texts].join('\n\n')
}
