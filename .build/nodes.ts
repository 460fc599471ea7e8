import { execFileSync, spawnSync } from 'node:child_process'
import { ROOT } from './project.ts'

// `npm run test:nodes` runs `npm test` with the newest release of each major version of Node, out of npm's package `node`.

const MAJORS = [22, 24, 26]

const results = MAJORS.map((major) => {
  const withNode = ['exec', '--yes', `--package=node@${major}`, '--']
  const version = execFileSync('npm', [...withNode, 'node', '--version'], { cwd: ROOT, encoding: 'utf8' }).trim()
  console.log(`npm test with Node ${version}`)
  const { status } = spawnSync('npm', [...withNode, 'npm', 'test'], { cwd: ROOT, stdio: 'inherit' })
  return { version, hasPassed: status === 0 }
})
for (const { version, hasPassed } of results) console.log(`Node ${version}: ${hasPassed ? 'passed' : 'failed'}`)
if (!results.every(({ hasPassed }) => hasPassed)) process.exitCode = 1
