import { expect, it } from 'vitest'
import { createToolmock } from '../../src/index.ts'
import { describeWith } from '../support/machine.ts'
import { codeBlocks, subsections } from './markdown.ts'
import { answered, pasted } from './shell.ts'

const code = (line: string | undefined): unknown => {
  const [status, body] = answered(line) as [number, { details: { error_code: string }[] }]
  return [status, body.details[0]?.error_code]
}
const status = (line: string | undefined): number => answered(line)[0]
const json = (line: string | undefined): unknown => JSON.parse(line ?? '')
const RESET = 'environment default is back at its seed'

/** A section whose block is pasted after that of "First success", and the lines that it must print. */
interface Recipe {
  readonly file: string
  readonly title: string
  readonly expect: (lines: string[]) => void
}

const RECIPES: readonly Recipe[] = [
  {
    file: 'README.md',
    title: 'A token expires',
    expect: ([reset, connected, , sent, revoked, , late, ...why]) => {
      expect(reset).toBe(RESET)
      expect(status(connected)).toBe(201)
      expect(status(sent)).toBe(200)
      expect(revoked).toContain('is ACTIVE')
      expect(code(late)).toEqual([400, 'ACCOUNT_NOT_ACTIVE'])
      expect(why.join('\n')).toMatch(/400 ACCOUNT_NOT_ACTIVE[^]*invalid_grant/)
    },
  },
  {
    file: 'README.md',
    title: 'A third party limits the rate',
    expect: (lines) => {
      expect(lines.slice(-3, -1).map(code)).toEqual([
        [429, 'TOOL_ERROR'],
        [429, 'TOOL_ERROR'],
      ])
      expect(status(lines.at(-1))).toBe(200)
    },
  },
  {
    file: 'README.md',
    title: 'A user denies consent',
    expect: (lines) => {
      const text = lines.join('\n')
      expect(text).toMatch(/http:\/\/localhost:3000\/verify\?error=access_denied&state=my-state/)
      expect(text).toMatch(/http:\/\/localhost:3000\/verify\?auth_request_id=[\w-]+&state=my-state/)
    },
  },
  {
    file: 'README.md',
    title: 'Tests in parallel',
    expect: (lines) => {
      expect(status(lines.find((line) => line.endsWith(' 201')))).toBe(201)
      expect(lines.at(-1)).toMatch(/mail +ada@example.com +ACTIVE/)
    },
  },
  {
    file: 'docs/accounts.md',
    title: 'The wrong person',
    expect: ([, , verified, , account]) => {
      expect(code(verified)).toEqual([403, 'IDENTIFIER_MISMATCH'])
      expect(account).toMatch(/eve@example.com +PENDING_VERIFICATION/)
    },
  },
  {
    file: 'docs/control-api.md',
    title: 'Environments',
    expect: ([seeded, ...variables]) => {
      expect(seeded).toBe('{}')
      expect(variables).toContain('export TOOLMOCK_CLIENT_ID=ci-1')
    },
  },
  {
    file: 'docs/control-api.md',
    title: 'Wait for requests, move the clock',
    expect: (lines) => {
      expect(json(lines.find((line) => line.startsWith('{"ok"')))).toMatchObject({ ok: true, matched: 1 })
      expect(lines.at(-1)).toBe('410')
    },
  },
]

/** Sections of the README that are not tested here, because they run the reader's own tests. */
const NOT_TESTED = ['A test run with a verdict']

// The first block sets the variables of a mock at the default address, so it is skipped.
const [, first = ''] = codeBlocks('README.md', 'First success')
const blockOf = ({ file, title }: Recipe): string => codeBlocks(file, title).join('')

for (const shell of ['bash', 'zsh'] as const) {
  describeWith(shell, `the blocks of the guides in ${shell}`, () => {
    it('first success: sends a message', async () => {
      await using mock = await createToolmock()
      const [connected, sent] = await pasted(first, mock, { shell })
      expect(status(connected)).toBe(201)
      expect(answered(sent)).toMatchObject([
        200,
        { data: { message_id: expect.stringMatching(/^msg_/) }, execution_id: expect.stringMatching(/^exec_/) },
      ])
    })

    it.each(RECIPES)('$file, $title: behaves as described', { timeout: 120_000 }, async (recipe) => {
      await using mock = await createToolmock()
      const [, , ...lines] = await pasted(`${first}${blockOf(recipe)}`, mock, { shell })
      recipe.expect(lines)
    })

    it('getting started: the steps succeed when they are pasted block by block', async () => {
      await using mock = await createToolmock()
      const lines = await pasted(codeBlocks('docs/getting-started.md', 'Step by step').join(''), mock, { shell })
      expect(lines[0]).toMatch(/^http:\/\/localhost:3000\/verify\?.*auth_request_id=[\w-]+/)
      expect(lines[0]).toContain('state=my-state')
      expect(json(lines[1])).toEqual({ post_user_verify_redirect_url: `${mock.url}/connect/success` })
      expect(json(lines[2])).toEqual({
        data: { message_id: expect.stringMatching(/^msg_/), thread_id: expect.stringMatching(/^thr_/) },
        execution_id: expect.stringMatching(/^exec_/),
      })
    })
  })
}

describeWith('bash', 'the recipes', () => {
  it('of README.md are all tested here', () => {
    const tried = RECIPES.filter(({ file }) => file === 'README.md').map(({ title }) => title)
    expect(subsections('README.md', 'Recipes')).toEqual([...tried, ...NOT_TESTED])
  })

  it('can be pasted one after the other', { timeout: 120_000 }, async () => {
    await using mock = await createToolmock()
    const lines = await pasted(`${first}${RECIPES.map(blockOf).join('')}`, mock)
    expect(lines.at(-1)).toBe('410')
  })

  it('The wrong person: a server that sends the identifier of the link connects the mailbox for another person', async () => {
    await using mock = await createToolmock()
    const recipe = codeBlocks('docs/accounts.md', 'The wrong person').join('')
    const naive = `${first}${recipe.replace('LOGGED_IN=ada@example.com', 'LOGGED_IN=eve@example.com')}`
    const lines = await pasted(naive, mock)
    expect(lines.at(-1)).toMatch(/eve@example.com +ACTIVE/)
  })
})
