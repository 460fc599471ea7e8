import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../../.build/project.ts'
import { contractReportSchema } from '../../journal/verdict/report-schemas.ts'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()

/** For each test, its mistake: the place, and the message of the finding. */
const MISTAKES: Readonly<Record<string, readonly [where: string, message: RegExp]>> = {
  'asks for a link': ['create_magic_link user_verify_uri', /did you mean user_verify_url\?/],
  'lists a page': ['list_connected_accounts pageSize', /did you mean page_size\?/],
  'sends a message': ['execute_tool tool_name', /did you mean mail_send_message\?/],
  'reads an account': ['get_connected_account_details connector', /did you mean mail\?/],
  'lists the accounts of a connection': ['list_connected_accounts connection_names', /did you mean code_hosting\?/],
  'lists connections': ['GET /api/v1/conections', /did you mean GET \/api\/v1\/connections\?/],
  'sends a message with a body': ['execute_tool tool_input.bodi', /did you mean body\?/],
  'asks the third party itself': ['proxy_request connection-name', /did you mean connection_name\?/],
  'creates an account': ['create_connected_account identifier', /is required/],
  'updates an account': ['update_connected_account connected_account.api_config', /must be an object; found/],
  'searches accounts': ['search_connected_accounts page_size', /must be at most 30; found 31/],
  'finds a user': ['get_connected_account_details identifier', /differs from the known "ada@example\.com"/],
  'connects an account': ['create_magic_link user_verify_url', /there is no check that the person who gave consent/],
}

const COMMANDS = {
  'with the library': ['node_modules/vitest/vitest.mjs', 'run'],
  'without the library': ['without-library.js'],
}

async function judged(command: readonly string[], variables: Record<string, string>) {
  const args = ['run', '--fail-on', 'warning', '--report', 'report.json', '--', process.execPath, ...command]
  const { code, stderr } = await toolmock.begin(args, { cwd: toolmock.path('sample'), variables }).end
  const text = readFileSync(toolmock.path('sample/report.json'), 'utf8')
  const { contract, verdict } = JSON.parse(text) as { contract: unknown; verdict: { reasons: { sentence: string }[] } }
  return { code, stderr: stderr.toString(), total: contractReportSchema.parse(contract).total, verdict }
}

describe('a client with thirteen mistakes', () => {
  beforeAll(() => {
    cpSync(join(ROOT, 'test/fixtures/thirteen-mistakes'), toolmock.path('sample'), { recursive: true })
    mkdirSync(toolmock.path('sample/node_modules'))
    symlinkSync(toolmock.path('package'), toolmock.path('sample/node_modules/toolmock'))
    symlinkSync(join(ROOT, 'node_modules/vitest'), toolmock.path('sample/node_modules/vitest'))
    // The library resolves vitest from its own node_modules, as in a project that has both installed.
    mkdirSync(toolmock.path('node_modules'))
    symlinkSync(join(ROOT, 'node_modules/vitest'), toolmock.path('node_modules/vitest'))
  })

  it.each(Object.entries(COMMANDS))(
    'gets one finding for each with its test, and passes once they are fixed: %s',
    async (_how, command) => {
      const { code, stderr, total, verdict } = await judged(command, {})
      expect({ code, stderr }).toMatchObject({ code: 3 })
      const named = total.findings.map(({ operation, field, tests }) => {
        return `${tests.map(({ name }) => name).join()}: ${operation === null ? '' : `${operation} `}${field}`
      })
      expect(named.sort()).toEqual(
        Object.entries(MISTAKES)
          .map(([test, [where]]) => `${test}: ${where}`)
          .sort(),
      )
      for (const [, message] of Object.values(MISTAKES))
        expect(
          verdict.reasons.filter(({ sentence }) => message.test(sentence)).length,
          String(message),
        ).toBeGreaterThan(0)
      expect(verdict.reasons).toHaveLength(13)

      const mended = await judged(command, { MENDED: '1' })
      expect({ code: mended.code, stderr: mended.stderr }).toMatchObject({ code: 0 })
      expect(mended.total).toMatchObject({ findings: [] })
    },
    120_000,
  )
})
