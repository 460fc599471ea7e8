import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeWith } from '../support/machine.ts'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

async function script(shell: string): Promise<string> {
  const { code, stdout } = await toolmock.run(['completion', shell])
  expect(code).toBe(0)
  const file = toolmock.path(`completion.${shell}`)
  writeFileSync(file, stdout)
  return file
}

const LINES: [line: string[], offered: string[]][] = [
  [['toolmock', 'sna'], ['snapshot']],
  [['toolmock', 'snapshot', 're'], ['restore']],
  [['toolmock', 'start', '--id'], ['--id-seed']],
  [['toolmock', 'start', '--port', '1', '--dur'], ['--durability']],
  [['toolmock', 'start', '--durability', 're'], ['relaxed']],
  [['toolmock', 'conform', '--in-mem'], []],
  [
    ['toolmock', 'clock', ''],
    ['advance', 'set', 'freeze', 'run'],
  ],
  [['toolmock', 'clock', 'set', ''], []],
  [
    ['toolmock', 'accounts', 'exp'],
    ['expire', 'expire_access_token'],
  ],
  [
    ['toolmock', 'state', ''],
    ['check', 'repair', 'export', 'import'],
  ],
  [['toolmock', 'connector', ''], ['from-openapi']],
  [
    ['toolmock', 'webhooks', ''],
    ['list', 'send', 'resend'],
  ],
  [
    ['toolmock', 'report', ''],
    ['contract', 'coverage', 'merge'],
  ],
  [['toolmock', 'validate', ''], []],
  [['toolmock', 'validate', '--ext'], ['--extension']],
  [['toolmock', 'run', '--min-s'], ['--min-statuses']],
  [['toolmock', 'run', '--', 'npm', '--min-s'], []],
]

/** Bash makes a word of each `=`. */
const BASH_LINES: typeof LINES = [
  [
    ['toolmock', 'start', '--durability', '='],
    ['strict', 'relaxed'],
  ],
  [['toolmock', 'start', '--durability', '=', 're'], ['relaxed']],
  [['toolmock', 'start', '--state', '=', ''], []],
  [['toolmock', 'start', '--durability', '=', 'relaxed', '--id'], ['--id-seed']],
]

const ZSH_LINES: typeof LINES = [
  [
    ['toolmock', 'start', '--durability='],
    ['strict', 'relaxed'],
  ],
  [['toolmock', 'start', '--durability=re'], ['relaxed']],
  [['toolmock', 'start', '--state=re'], []],
]

describeWith('bash', 'completion bash', () => {
  it('offers commands, actions, flags and the words of a flag, and leaves operands to files', async () => {
    const file = await script('bash')
    for (const [line, offered] of [...LINES, ...BASH_LINES]) {
      const words = line.map((word) => `'${word}'`).join(' ')
      const run = `. '${file}'; COMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _toolmock; printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout, stderr } = spawnSync('bash', ['-c', run], { encoding: 'utf8' })
      expect({ line, stderr, offered: stdout.split('\n').filter((word) => word !== '') }).toEqual({
        line,
        stderr: '',
        offered,
      })
    }
  })
})

describeWith('zsh', 'completion zsh', () => {
  it('offers commands, actions, flags and the words of a flag, and leaves operands to files', async () => {
    const file = await script('zsh')
    const stubs = 'compdef() { :; }; compset() { :; }; compadd() { shift; print -l -- $@; }; _files() { :; }'
    for (const [line, offered] of [...LINES, ...ZSH_LINES]) {
      const words = line.map((word) => `'${word}'`).join(' ')
      const run = `${stubs}; . '${file}'; words=(${words}); CURRENT=${line.length}; _toolmock`
      const { stdout, stderr } = spawnSync('zsh', ['-fc', run], { encoding: 'utf8' })
      const last = line.at(-1)?.replace(/^--.*=/, '') ?? ''
      const fitting = stdout.split('\n').filter((word) => word !== '' && word.startsWith(last))
      expect({ line, stderr, offered: fitting }).toEqual({ line, stderr: '', offered })
    }
  })
})

it('completion takes one shell that it knows', async () => {
  for (const args of [[], ['fish'], ['bash', 'zsh']]) {
    expect(await toolmock.run(['completion', ...args])).toMatchObject({
      code: 2,
      stderr: 'toolmock: completion takes one of bash, zsh. See npx toolmock completion --help.\n',
    })
  }
})
