import { getAsset } from 'node:sea'
import type * as disk from '../../src/files/package-disk.ts'

/* In the executable it takes the place of src/files/package-disk.ts. */

/** The asset that lists the paths of the others. */
export const PATHS = 'paths.json'

export const packageFile: typeof disk.packageFile = (path) =>
  Promise.resolve({ file: path, text: getAsset(path, 'utf8') })

export const packagePaths: typeof disk.packagePaths = (folder) => {
  const paths = JSON.parse(getAsset(PATHS, 'utf8')) as string[]
  return Promise.resolve(paths.filter((path) => path.startsWith(`${folder}/`)))
}

export const dashboardFile: typeof disk.dashboardFile = (name) =>
  Promise.resolve(Buffer.from(getAsset(`dist/ui/${name}`)))
