// The library in a process of its own: `node library.js import|require FOLDER_OF_THE_PACKAGE` prints milliseconds as JSON.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [, , how, folder] = process.argv
const TIMES = 10

/** The milliseconds of each of several calls, the first of which is not counted: it loads what all of them use. */
async function times(work) {
  const found = []
  for (let round = 0; round <= TIMES; round++) {
    const from = performance.now()
    const done = await work()
    if (round > 0) found.push(performance.now() - from)
    await done?.close?.()
  }
  return found.sort((a, b) => a - b)[TIMES / 2]
}

const from = performance.now()
const library =
  how === 'require'
    ? createRequire(import.meta.url)(join(folder, 'dist/index.cjs'))
    : await import(pathToFileURL(join(folder, 'dist/index.js')).href)
const loaded = performance.now() - from
const mock = await library.createToolmock()
const first = performance.now() - from
const result = {
  loaded,
  first,
  further: await times(() => library.createToolmock()),
  reset: await times(() => mock.reset()),
  environment: await times(() => mock.environment()),
}
await mock.close()
console.log(JSON.stringify(result))
