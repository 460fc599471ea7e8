import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** The short form of `npm run soak -- --minutes 30`. */
it('memory does not grow in twenty seconds of mixed load with misbehaving clients', { timeout: 120_000 }, async () => {
  const script = fileURLToPath(new URL('soak.ts', import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', script, '--seconds', '20'])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))

  expect(code, output).toBe(0)
})
