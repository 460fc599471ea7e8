import { gzipSync } from 'node:zlib'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './step.ts'

const SOURCE = 'src/ui'
const OUTPUT = 'src/ui/generated'

/** The most bytes that the script may have, compressed, without the highlighter that the editor of scenarios loads. */
const MAX_BYTES = 45_000

/** The script and the style sheet of the dashboard, bundled for browsers. */
export const dashboard: Step = {
  name: 'dashboard',
  inputs: [SOURCE, 'src/domain', 'package-lock.json'],
  outputs: [`${OUTPUT}/app.js`, `${OUTPUT}/highlight.js`, `${OUTPUT}/style.css`],
  make: async (root) => {
    const { rolldown } = await import('rolldown')
    const bundle = await rolldown({
      cwd: root,
      platform: 'browser',
      input: `${SOURCE}/main.tsx`,
      tsconfig: false,
      transform: { target: 'es2023', jsx: { runtime: 'automatic', importSource: 'preact' } },
    })
    const { output } = await bundle.generate({
      format: 'esm',
      minify: true,
      comments: false,
      entryFileNames: 'app.js',
      chunkFileNames: '[name].js',
    })
    await bundle.close()
    const codes = new Map(output.map((each) => [each.fileName, each.type === 'chunk' ? each.code : '']))
    const { 'app.js': code = '', 'highlight.js': highlighter = '', ...others } = Object.fromEntries(codes)
    if (highlighter === '' || Object.keys(others).length > 0)
      throw new Error(`the dashboard has app.js and highlight.js; rolldown made ${[...codes.keys()].join(', ')}`)
    const size = gzipSync(code).length
    if (size > MAX_BYTES)
      throw new Error(`the script of the dashboard has ${size} bytes compressed, more than ${MAX_BYTES}`)
    const style = await readFile(join(root, SOURCE, 'style.css'), 'utf8')
    return new Map([
      [`${OUTPUT}/app.js`, code],
      [`${OUTPUT}/highlight.js`, highlighter],
      [`${OUTPUT}/style.css`, style],
    ])
  },
}
