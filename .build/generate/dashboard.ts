import { gzipSync } from 'node:zlib'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './step.ts'

const SOURCE = 'src/ui'
const OUTPUT = 'src/ui/generated'

/** What is loaded when it is first used, by the entry that is loaded at once. */
const [FIRST, ON_DEMAND, EDITOR, STYLE] = ['app.js', 'on-demand.js', 'editor.js', 'style.css'] as const

/** The most bytes, compressed, of what the first view loads, and of everything but the editor of scenarios. */
const LIMITS = [
  [[FIRST, STYLE], 45_000],
  [[FIRST, ON_DEMAND, STYLE], 49_200],
] as const

/** The scripts and the style sheet of the dashboard, bundled for browsers. */
export const dashboard: Step = {
  name: 'dashboard',
  inputs: [SOURCE, 'src/domain', 'src/pages', 'package-lock.json'],
  outputs: [FIRST, ON_DEMAND, EDITOR, STYLE].map((name) => `${OUTPUT}/${name}`),
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
      entryFileNames: FIRST,
      chunkFileNames: '[name].js',
    })
    await bundle.close()
    const { BASE_STYLE } = await import('../../src/pages/style.ts')
    const style = minified(`${BASE_STYLE.toString()}${await readFile(join(root, SOURCE, STYLE), 'utf8')}`)
    const made = new Map([
      ...output.map((each) => [each.fileName, 'code' in each ? each.code : ''] as const),
      [STYLE, style],
    ])
    const names = [...made.keys()].sort().join(', ')
    if (names !== [FIRST, ON_DEMAND, EDITOR, STYLE].sort().join(', '))
      throw new Error(`the dashboard has other files: ${names}`)
    for (const [parts, limit] of LIMITS) {
      const size = parts.reduce((sum, name) => sum + gzipSync(made.get(name) ?? '', { level: 9 }).length, 0)
      if (size > limit) throw new Error(`${parts.join(', ')} have ${size} bytes compressed, more than ${limit}`)
    }
    return new Map([...made].map(([name, text]) => [`${OUTPUT}/${name}`, text]))
  },
}

/** A style sheet without comments and needless white space. */
function minified(style: string): string {
  return style
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
}
