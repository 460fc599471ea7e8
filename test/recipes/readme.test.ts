import { expect, it } from 'vitest'
import { createToolmock } from '../../src/index.ts'
import { codeBlocks, subsections } from './markdown.ts'
import { answered, describeInShell, pasted } from './shell.ts'

/** What a recipe has to print, line by line, and further scripts in the same shell. */
type Outcome = (lines: string[]) => void

const OK = '{}'
const code = (line: string | undefined): unknown => {
  const [status, body] = answered(line) as [number, { details: { error_code: string }[] }]
  return [status, body.details[0]?.error_code]
}
const status = (line: string | undefined): number => answered(line)[0]
const json = (line: string | undefined): unknown => JSON.parse(line ?? '')

/** By heading, one for each block. */
const OUTCOMES: Record<string, Outcome[]> = {
  'A token expires': [
    ([reset, , sent, revoked, , late, why]) => {
      expect(reset).toBe(OK)
      expect(status(sent)).toBe(200)
      expect(json(revoked)).toMatchObject({ account: { status: 'ACTIVE' } })
      expect(code(late)).toEqual([400, 'ACCOUNT_NOT_ACTIVE'])
      expect(json(why)).toMatchObject({
        id: 'too-late',
        decided_by: 'service',
        text: expect.stringContaining('invalid_grant'),
      })
    },
  ],
  '401, then a new token': [
    ([, , first, second, third]) => {
      expect(status(first)).toBe(200)
      expect(code(second)).toEqual([401, 'UNAUTHENTICATED'])
      expect(status(third)).toBe(200)
    },
    ([, , sent, shown]) => {
      expect(status(sent)).toBe(200)
      const { request } = json(shown) as {
        request: { refreshes: unknown[]; upstream: { kind: string; status: number }[] }
      }
      expect(request.refreshes).toHaveLength(1)
      expect(request.upstream.map(({ kind, status: answer }) => [kind, answer])).toEqual([
        ['api', 401],
        ['token', 200],
        ['api', 201],
      ])
    },
  ],
  'Denied consent': [
    ([, , denied, approved]) => {
      expect(json(denied)).toEqual({
        redirect_url: expect.stringMatching(/^http:\/\/localhost:3000\/verify\?error=access_denied&state=my-state$/),
      })
      expect(json(approved)).toEqual({ redirect_url: expect.stringContaining('auth_request_id=') })
    },
  ],
  'The wrong person': [
    ([, , verified, details]) => {
      expect(code(verified)).toEqual([403, 'IDENTIFIER_MISMATCH'])
      expect(answered(details)).toMatchObject([200, { connected_account: { status: 'PENDING_VERIFICATION' } }])
    },
  ],
  '429 with back-off': [
    ([, , , , limited, clock, sent]) => {
      expect(code(limited)).toEqual([429, 'TOOL_ERROR'])
      expect(json(clock)).toMatchObject({ frozen: true })
      expect(status(sent)).toBe(200)
    },
  ],
  'Parallel tests': [
    (lines) => {
      const created = lines.filter((line) => line.endsWith(' 201')).map((line) => answered(line)[1])
      const account = { identifier: 'ada@example.com', updated_at: expect.stringMatching(/^2030-01-01/) }
      expect(created).toMatchObject([{ connected_account: account }, { connected_account: account }])
      expect(lines.filter((line) => line === OK)).toHaveLength(2)
    },
    ([seeded, ...variables]) => {
      expect(seeded).toBe(OK)
      expect(variables).toContain('export TOOLMOCK_CLIENT_ID=ci-1')
    },
  ],
  'Waiting instead of sleeping': [
    ([, waited, , expired]) => {
      expect(json(waited)).toMatchObject({ ok: true, matched: 1 })
      expect(expired).toBe('410')
    },
  ],
}

const [preamble = ''] = codeBlocks('README.md', 'Recipes')
const titles = subsections('README.md', 'Recipes')

describeInShell('the recipes of README.md', () => {
  it('are all tried here', () => {
    expect(titles).toEqual(Object.keys(OUTCOMES))
  })

  it.each(titles)('%s: does what it says', async (title) => {
    const outcomes = OUTCOMES[title] ?? []
    const blocks = codeBlocks('README.md', title)
    expect(blocks).toHaveLength(outcomes.length)
    await using mock = await createToolmock()
    for (const [at, outcome] of outcomes.entries()) {
      outcome(await pasted(`${preamble}${blocks[at] ?? ''}`, mock))
    }
  })

  it('can be pasted one after the other', { timeout: 60_000 }, async () => {
    await using mock = await createToolmock()
    const all = titles.flatMap((title) => codeBlocks('README.md', title)).join('')
    const lines = await pasted(`${preamble}${all}`, mock)
    expect(lines.at(-1)).toBe('410')
  })

  it('The wrong person: a server that sends the identifier of the link is taken in', async () => {
    await using mock = await createToolmock()
    const recipe = codeBlocks('README.md', 'The wrong person').join('')
    const naive = `${preamble}${recipe.replace('LOGGED_IN=ada@example.com', 'LOGGED_IN=eve@example.com')}`
    const [, , verified, details] = await pasted(naive, mock)
    expect(status(verified)).toBe(200)
    expect(answered(details)).toMatchObject([200, { connected_account: { status: 'ACTIVE' } }])
  })
})
