import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { manifestOf, ROOT } from '../../.build/project.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { codeBlocks } from '../recipes/markdown.ts'
import { describeWith } from '../support/machine.ts'

const toolmock = ToolmockProcess.forThisFile()
const ACTION = `${ROOT}integrations/github-action`

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}
interface Step {
  readonly shell: string
  readonly run: string
  readonly env: Readonly<Record<string, string>>
}

const actionOf = (folder: string): Action => parse(readFileSync(`${folder}/action.yml`, 'utf8')) as Action

/** A job: a folder, the files by which its steps talk to the runner, and the variables that they have exported. */
class Job {
  readonly folder = mkdtempSync(join(toolmock.folder, 'job-'))
  readonly #variables: Record<string, string>
  readonly #npx: string

  constructor() {
    const bin = join(this.folder, 'bin')
    mkdirSync(bin)
    this.#npx = join(bin, 'npx.log')
    writeFileSync(this.#npx, '')
    const { command, args } = toolmock.command([])
    // Without a registry: records what it would run, and runs the package of this test.
    const script = `#!/bin/sh\necho "$*" >> '${this.#npx}'\nwhile [ "\${1#--}" != "$1" ]; do shift; done\nshift\nexec '${command}' '${args.join("' '")}' "$@"\n`
    writeFileSync(join(bin, 'npx'), script, { mode: 0o755 })
    this.#variables = { PATH: `${bin}:${process.env['PATH'] ?? ''}` }
    for (const name of ['GITHUB_ENV', 'GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY']) {
      this.#variables[name] = join(this.folder, name)
      writeFileSync(join(this.folder, name), '')
    }
    onTestFinished(() => void this.shell('npx --no-install toolmock stop'))
  }

  file(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }

  /** Each call of npx so far. */
  calls(): string[] {
    return readFileSync(this.#npx, 'utf8').trim().split('\n')
  }

  /** Runs as a step with \`shell: bash\`, and takes over what it exports. */
  shell(script: string, variables: Readonly<Record<string, string>> = {}): { status: number | null; output: string } {
    const { env } = toolmock.command([])
    const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...env, ...this.#variables, ...variables },
    })
    const entries = this.file('GITHUB_ENV').matchAll(/^(\w+)(?:=([^\n]*)|<<(\S+)\n(.*?)\n\3)$/gms)
    for (const [, name = '', line, , block] of entries) this.#variables[name] = line ?? block ?? ''
    return { status, output: stdout + stderr }
  }

  /** Runs the steps of an action as the runner does: expressions stand only in the variables of a step. */
  use(
    folder: string,
    inputs: Readonly<Record<string, string>> = {},
    inherited: Readonly<Record<string, string>> = {},
  ): { status: number | null; output: string } {
    const action = actionOf(folder)
    const known: Record<string, string> = { 'github.action_path': folder }
    for (const [name, { default: value }] of Object.entries(action.inputs))
      known[`inputs.${name}`] = inputs[name] ?? value
    const ended = action.runs.steps.map(({ run, env }) => {
      const filled = Object.entries(env).map(([name, value]) => [
        name,
        value.replaceAll(
          /\$\{\{ ([\w.-]+) \}\}/g,
          (_, expression: string) => known[expression] ?? `unknown: ${expression}`,
        ),
      ])
      return this.shell(run, { ...inherited, ...(Object.fromEntries(filled) as Record<string, string>) })
    })
    return {
      status: ended.find(({ status }) => status !== 0)?.status ?? 0,
      output: ended.map(({ output }) => output).join(''),
    }
  }
}

/** The package as `npm pack` writes it. */
function tarball(): string {
  const file = toolmock.path('toolmock-0.1.0.tgz')
  execFileSync('tar', ['-czhf', file, '-C', toolmock.folder, 'package'])
  return file
}

/** In place of the executable, which `npm run binary` makes. */
function executable(): string {
  const file = toolmock.path('toolmock-linux-x64')
  const { command, args } = toolmock.command([])
  writeFileSync(file, `#!/bin/sh\nexec '${command}' '${args.join("' '")}' "$@"\n`)
  return file
}

const ASK = `TOKEN=$(curl -sS --fail "$TOOLMOCK_URL/oauth/token" -d grant_type=client_credentials -d client_id="$TOOLMOCK_CLIENT_ID" \
  -d client_secret="$TOOLMOCK_CLIENT_SECRET" | sed -E 's/.*"access_token":"([^"]*)".*/\\1/')
  ask() { curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$TOOLMOCK_URL$1" -d "$2"; }`
const KEEPS = `${ASK}
  ask /api/v1/connected_accounts/magic_link '{ "connector": "mail", "identifier": "ada@example.com" }'`
const BREAKS = `${ASK}
  ask /api/v1/connected_accounts/magic_link '{ "connector": "mail", "note": "::error::<b>x</b>" }'`

describeWith('bash', 'the actions for GitHub', () => {
  it('are composite, name a shell in each step, and have no expression in a script', () => {
    for (const folder of [ACTION, `${ACTION}/report`]) {
      const { inputs, runs } = actionOf(folder)
      expect(runs.using).toBe('composite')
      for (const { shell, run } of runs.steps)
        expect({ shell, run: run.includes('${{') }).toEqual({ shell: 'bash', run: false })
      for (const input of Object.values(inputs))
        expect(input).toEqual({ description: expect.any(String), default: expect.any(String) })
    }
  })

  it('start a mock with what was asked for, and export its address and credentials to the next steps', () => {
    const job = new Job()
    const inputs = { seed: 'bundled', scenario: 'rate-limited\naccount-already-exists', mcp: 'true' }
    expect(job.use(ACTION, inputs)).toMatchObject({ status: 0 })
    expect(job.calls()[0]).toBe(
      '--no-install toolmock start --detach --in-memory --port 0 --seed bundled --scenario rate-limited --scenario account-already-exists --mcp',
    )
    expect(job.file('GITHUB_OUTPUT')).toMatch(/^url=http:\/\/127\.0\.0\.1:\d+\n$/)
    expect(job.shell(KEEPS)).toMatchObject({ status: 0, output: '200' })
    expect(job.shell('curl -sS "$TOOLMOCK_URL/_mock/scenarios"').output).toMatch(/"rate-limited"[^}]*"running":true/)
  })

  it.each([
    ['a tarball', () => tarball()],
    ['the address of a tarball', () => `file://${tarball()}`],
    ['an executable', () => executable()],
  ])('start the mock of %s, and report by it, without npx', (_, program) => {
    const job = new Job()
    expect(job.use(ACTION, { package: program() })).toMatchObject({ status: 0 })
    job.shell(KEEPS)
    expect(job.use(`${ACTION}/report`)).toMatchObject({ status: 0 })
    expect(job.shell('$TOOLMOCK_BIN stop')).toMatchObject({ status: 0 })
    expect(job.calls()).toEqual([''])
  })

  it('start a mock of their own beside the one that the job or a configuration file names', () => {
    const job = new Job()
    writeFileSync(join(job.folder, 'toolmock.config.json'), '{"port": 9, "url": "http://127.0.0.1:9"}')
    expect(job.use(ACTION, {}, { TOOLMOCK_URL: 'http://127.0.0.1:1' })).toMatchObject({ status: 0 })
    expect(job.shell(KEEPS)).toMatchObject({ status: 0, output: '200' })
  })

  it('fail with the reason where the mock does not start', () => {
    const job = new Job()
    expect(job.use(ACTION, { scenario: 'no-such' })).toMatchObject({
      status: 2,
      output: expect.stringContaining('no-such') as string,
    })
    expect(job.use(ACTION, { mcp: 'yes' })).toMatchObject({
      status: 1,
      output: expect.stringContaining('allowed: true, false') as string,
    })
    expect(job.file('GITHUB_ENV')).toBe('')
  })

  it('report a kept contract as job summary and SARIF, and pass', () => {
    const job = new Job()
    job.use(ACTION)
    job.shell(KEEPS)
    expect(job.use(`${ACTION}/report`)).toMatchObject({ status: 0 })
    expect(job.file('GITHUB_STEP_SUMMARY')).toMatch(/^## toolmock\n\n {4}\S/m)
    expect(JSON.parse(job.file('toolmock.sarif'))).toMatchObject({ version: '2.1.0', runs: [{ results: [] }] })
  })

  it('report a broken contract as annotations too, and fail unless told not to', () => {
    const job = new Job()
    job.use(ACTION)
    expect(job.shell(BREAKS).output).toBe('400')
    const reported = job.use(`${ACTION}/report`, { sarif: 'other.sarif' })
    expect(reported).toMatchObject({ status: 1, output: expect.stringMatching(/^::error .*identifier/m) as string })
    expect(reported.output).toContain('the verdict failed')
    const { runs } = JSON.parse(job.file('other.sarif')) as { runs: [{ results: unknown[] }] }
    expect(runs[0].results).not.toEqual([])
    const lines = job.file('GITHUB_STEP_SUMMARY').split('\n')
    expect(lines.filter((line) => !/^( {4}.*|## toolmock|)$/.test(line))).toEqual([])
    expect(job.use(`${ACTION}/report`, { fail: 'false' })).toMatchObject({ status: 0 })
  })

  it('report fails where nothing was requested, unless that is allowed, and where no mock was started', () => {
    const job = new Job()
    expect(job.use(`${ACTION}/report`)).toMatchObject({
      status: 1,
      output: expect.stringContaining('no mock was started') as string,
    })
    job.use(ACTION)
    expect(job.use(`${ACTION}/report`)).toMatchObject({
      status: 1,
      output: expect.stringContaining('nothing was judged') as string,
    })
    expect(job.use(`${ACTION}/report`, { 'allow-no-requests': 'true' })).toMatchObject({ status: 0 })
  })
})

/** What a component of GitLab may have, as far as this one goes. */
const INPUT_KEYS = ['default', 'description', 'options', 'regex', 'type']
const JOB_KEYS = [
  'after_script',
  'artifacts',
  'before_script',
  'image',
  'needs',
  'script',
  'services',
  'stage',
  'variables',
  'when',
]
const SERVICE_KEYS = ['alias', 'command', 'entrypoint', 'name', 'variables']
const ARTIFACT_KEYS = ['paths', 'reports', 'when']
const REPORT_KEYS = ['codequality', 'junit']

interface GitlabJob {
  readonly services?: readonly { readonly variables: Readonly<Record<string, string>> }[]
  readonly needs?: readonly string[]
  readonly before_script?: readonly string[]
  readonly script: readonly string[] | string
  readonly after_script?: readonly string[]
  readonly artifacts: { readonly paths?: readonly string[]; readonly reports?: Readonly<Record<string, string>> }
}

describeWith('bash', 'the component for GitLab', () => {
  const text = readFileSync(`${ROOT}integrations/gitlab/templates/toolmock.yml`, 'utf8')
  const [{ spec }, jobs] = parseAllDocuments(text).map((each) => each.toJS() as unknown) as [
    { spec: { inputs: Record<string, object> } },
    Record<string, GitlabJob>,
  ]

  it('has only keys that GitLab knows, and uses the inputs that it declares', () => {
    const others = (value: object, known: readonly string[]) => Object.keys(value).filter((key) => !known.includes(key))
    for (const input of Object.values(spec.inputs)) expect(others(input, INPUT_KEYS)).toEqual([])
    for (const job of Object.values(jobs)) {
      expect(others(job, JOB_KEYS)).toEqual([])
      for (const service of job.services ?? []) expect(others(service, SERVICE_KEYS)).toEqual([])
      expect(others(job.artifacts, ARTIFACT_KEYS)).toEqual([])
      expect(others(job.artifacts.reports ?? {}, REPORT_KEYS)).toEqual([])
      for (const name of job.needs ?? []) expect(Object.keys(jobs)).toContain(name)
    }
    const used = [...text.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map(([, name = '']) => name)
    expect([...new Set(used)].sort()).toEqual(Object.keys(spec.inputs).sort())
  })

  it.each([tarball, executable])('keeps the verdict of its service in a report job, by %o', async (program) => {
    const { 'toolmock-test': test, 'toolmock-report': report } = jobs
    const inputs: Record<string, string> = { package: program(), seed: 'bundled', scenario: '', mcp: 'false' }
    const filled = (value: string) =>
      value.replaceAll(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => inputs[name] ?? '')
    const service = Object.entries(test?.services?.[0]?.variables ?? {}).map(([name, value]) => [name, filled(value)])
    const serving = await toolmock.start([], Object.fromEntries(service) as Record<string, string>)
    try {
      const job = new Job()
      const variables = {
        TOOLMOCK_URL: serving.url,
        TOOLMOCK_CLIENT_ID: 'test_client',
        TOOLMOCK_CLIENT_SECRET: 'test_secret',
        MOCK_PACKAGE: inputs['package'] ?? '',
      }
      const run = (lines: readonly string[] | string | undefined) =>
        job.shell([lines ?? []].flat().map(filled).join('\n'), variables)
      expect(run(test?.before_script)).toMatchObject({ status: 0 })
      expect(run([KEEPS])).toMatchObject({ output: '200' })
      run([`TOOLMOCK_URL=http://127.0.0.1:9`, ...(test?.after_script ?? [])])
      expect(existsSync(join(job.folder, 'toolmock-report.json'))).toBe(false)
      expect(run(test?.after_script)).toMatchObject({ status: 0 })
      expect(run(report?.script)).toMatchObject({ status: 0 })
      run([BREAKS])
      run(test?.after_script)
      expect(run(report?.script)).toMatchObject({ status: 3 })
      const files = report?.artifacts.reports ?? {}
      expect(JSON.parse(job.file(files['codequality'] ?? ''))).toContainEqual(
        expect.objectContaining({ severity: 'major' }),
      )
      expect(job.file(files['junit'] ?? '')).toContain('<failure')
      expect(job.calls()).toEqual([''])
    } finally {
      await serving.stop()
    }
  })
})

it('the workflows and their examples: name each action of others by its digest, with the version beside it', () => {
  const files = execFileSync('git', ['ls-files', '*.md', '*.yml', '*.yaml'], { cwd: ROOT, encoding: 'utf8' })
  const lines = files
    .trim()
    .split('\n')
    .flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(/^ *- uses: (?!OWNER\/toolmock\/).*$/gm) ?? [])
  expect(lines.length).toBeGreaterThan(10)
  expect(lines.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
})

it('the files for containers name the image by the version of the package', () => {
  const images = ['compose.yaml', 'compose-team.yaml', 'kubernetes.yaml'].flatMap(
    (name) => readFileSync(`${ROOT}docs/${name}`, 'utf8').match(/image: \S*toolmock\S*$/gm) ?? [],
  )
  expect(images).toHaveLength(4)
  expect(images.filter((image) => !image.endsWith(`toolmock:${manifestOf(ROOT).version}`))).toEqual([])
})

describeWith('bash', 'the jobs of docs/ci.md', () => {
  const [yaml = ''] = codeBlocks('docs/ci.md', 'A job', 'yaml')
  const { steps } = (parse(yaml) as { jobs: { test: { steps: { run?: string; with?: { path?: string } }[] } } }).jobs
    .test
  const step = steps.find(({ run }) => run?.startsWith('npx toolmock run'))?.run ?? ''

  it('runs its tests around a mock, keeps the report that it uploads, and fails when the contract was broken', () => {
    const job = new Job()
    const around = (tests: string) =>
      job.shell(step.replace('npm test', 'bash tests.sh').replace(/^/, `cat > tests.sh <<'END'\n${tests}\nEND\n`))
    expect(around(KEEPS)).toMatchObject({ status: 0 })
    expect(job.file(steps.at(-1)?.with?.path ?? '')).toContain('<html')
    expect(around(BREAKS)).toMatchObject({ status: 3 })
    expect(job.file('GITHUB_STEP_SUMMARY')).toContain('identifier')
  })
})

describeWith('bash', 'the lines for any other CI', () => {
  const [lines = ''] = codeBlocks('docs/ci.md', 'In the background', 'sh')

  it('start a mock, run the tests and judge their requests', () => {
    const job = new Job()
    expect(job.shell(lines.replace('npm test', KEEPS))).toMatchObject({ status: 0 })
    expect(job.file('toolmock.xml')).toContain('<testsuites')
    expect(new Job().shell(lines.replace('npm test', BREAKS))).toMatchObject({ status: 1 })
  })
})
