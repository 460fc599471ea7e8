import { gzipSync } from 'node:zlib'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './step.ts'

const SOURCE = 'src/ui/dashboard'
const OUTPUT = 'src/ui/dashboard/generated'

/** All views, what is loaded when it is first shown, the shared worker, and the style sheet. */
const [VIEWS, EDITOR, STREAM, STYLE] = ['app.js', 'editor.js', 'stream.js', 'style.css'] as const

/** The most bytes, compressed, of what every visit loads. */
const LIMIT = 45_000

/** The scripts and the style sheet of the dashboard, bundled for browsers. */
export const dashboard: Step = {
  name: 'dashboard',
  inputs: [SOURCE, 'src/model/domain', 'src/ui/pages', 'package-lock.json'],
  outputs: [VIEWS, EDITOR, STREAM, STYLE].map((name) => `${OUTPUT}/${name}`),
  make: async (root) => {
    const { rolldown } = await import('rolldown')
    const bundle = await rolldown({
      cwd: root,
      platform: 'browser',
      input: `${SOURCE}/main.tsx`,
      tsconfig: false,
      transform: { target: 'es2023', jsx: { runtime: 'automatic', importSource: 'preact' } },
      // Of our own modules, one of which nothing is used is left out.
      treeshake: { moduleSideEffects: (id) => id.includes('node_modules') },
    })
    const { output } = await bundle.generate({
      format: 'esm',
      minify: true,
      comments: false,
      entryFileNames: VIEWS,
      chunkFileNames: ({ name }) => (name === 'stream' ? STREAM : EDITOR),
    })
    await bundle.close()
    const { BASE_STYLE } = await import('../../src/ui/pages/style.ts')
    const style = minified(`${BASE_STYLE.toString()}${await readFile(join(root, SOURCE, STYLE), 'utf8')}`)
    const made = new Map([
      ...output.map((each) => [each.fileName, 'code' in each ? each.code : ''] as const),
      [STYLE, style],
    ])
    const names = [...made.keys()].sort().join(', ')
    if (names !== [VIEWS, EDITOR, STREAM, STYLE].sort().join(', '))
      throw new Error(`the dashboard has other files: ${names}`)
    const size = [VIEWS, STREAM, STYLE].reduce(
      (sum, name) => sum + gzipSync(made.get(name) ?? '', { level: 9 }).length,
      0,
    )
    if (size > LIMIT) throw new Error(`${VIEWS} and ${STYLE} have ${size} bytes compressed, more than ${LIMIT}`)
    return new Map([...made].map(([name, text]) => [`${OUTPUT}/${name}`, text]))
  },
}

/** A style sheet without comments, needless white space and the last semicolon of each rule. */
function minified(style: string): string {
  return style
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(';}', '}')
}
