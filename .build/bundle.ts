import { rmSync, writeFileSync } from 'node:fs'
import { bundledSeed } from './bundled-seed.ts'
import { bundleCode } from './code.ts'
import { licenseTexts } from './licenses.ts'
import { ROOT } from './project.ts'
import { checkStartWeight } from './start-weight.ts'
import { emitTypes } from './types.ts'

// `npm run build`: everything that the published package has in dist/.
const dist = `${ROOT}dist`
rmSync(dist, { recursive: true, force: true })
const metafile = await bundleCode(dist)
checkStartWeight(metafile)
writeFileSync(`${dist}/third-party-licenses.txt`, licenseTexts(metafile))
writeFileSync(`${dist}/bundled-seed.json`, await bundledSeed())
emitTypes(`${dist}/types`)
