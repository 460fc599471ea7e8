import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/files/load.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'
import { applySeed } from '../support/apply-seed.ts'
import { startThirdParties, type ThirdParties } from '../../src/service/third-party/client.ts'
import { testEnvironment } from '../support/environment.ts'
import { seedAccount } from '../support/rows.ts'

const bundle = await loadSeeds(['bundled'], DOCUMENT_CHECKS)
const accounts = ['mail', 'calendar', 'files', 'tracker'].map((connector) => seedAccount(connector))

/** Rules of the bundled applications that take several calls to test. */
describe('a bundled application', () => {
  let parties: ThirdParties
  let run: (tool: string, input: JsonObject) => Promise<JsonValue>

  beforeEach(async () => {
    const environment = testEnvironment()
    parties = await startThirdParties({ registry: { environment: () => environment } })
    const thirdParty = parties.client(environment)
    await applySeed(environment, thirdParty, { ...bundle, accounts })
    run = async (name, input) => {
      const connector = bundle.connectors.find(({ tools }) => tools.some((tool) => tool.name === name))!
      const tool = connector.tools.find((each) => each.name === name)!
      const [account] = environment.model.accountIndex.where({
        connector: connector.connector,
        identifier: 'ada@example.com',
      })
      const answer = await thirdParty.call(connector, tool, account!, input)
      return answer.kind === 'result' ? answer.data : answer.kind === 'failed' ? answer.status : answer.kind
    }
  })

  afterEach(() => parties.close())

  it('mail refuses a recipient that is no address', async () => {
    expect(await run('mail_send_message', { to: 'Grace', subject: 'Hello' })).toBe(400)
    expect(await run('mail_send_message', { to: '', subject: 'Hello' })).toBe(400)
    expect(await run('mail_list_messages', { folder: 'sent', limit: 1 })).toMatchObject({ messages: [{ id: 'msg_8' }] })
  })

  it('mail and the tracker add a label once that is given twice', async () => {
    const labelled = await run('mail_label_message', { message_id: 'msg_1', add: ['lunch', 'lunch', 'personal'] })
    expect(labelled).toMatchObject({ labels: ['personal', 'lunch'] })
    expect(await run('tracker_update_issue', { key: 'APP-101', add_labels: ['x', 'x'] })).toMatchObject({
      labels: ['customer', 'x'],
    })
  })

  it('the calendar lets an event that overlaps another change all but its time', async () => {
    const time = { start: '2031-05-06T10:00:00Z', end: '2031-05-06T11:00:00Z' }
    await run('calendar_create_event', { title: 'First', ...time })
    const { id } = (await run('calendar_create_event', {
      title: 'Second',
      ...time,
      allow_conflict: true,
    })) as JsonObject
    expect(await run('calendar_update_event', { event_id: id!, title: 'Renamed' })).toMatchObject({ title: 'Renamed' })
    expect(await run('calendar_update_event', { event_id: id!, start: '2031-05-06T10:30:00Z' })).toBe(409)
    expect(await run('calendar_update_event', { event_id: id!, end: '2031-05-06T10:30:00Z' })).toBe(409)
    expect(
      await run('calendar_update_event', { event_id: id!, start: '2031-05-06T10:59:00Z', allow_conflict: true }),
    ).toMatchObject({ start: '2031-05-06T10:59:00Z' })
    const later = { start: '2031-05-06T11:00:00Z', end: '2031-05-06T12:00:00Z' }
    expect(await run('calendar_update_event', { event_id: id!, ...later })).toMatchObject(later)
  })

  it('the calendar never reports an unknown calendar as free', async () => {
    const range = { from: '2031-05-06T00:00:00Z', to: '2031-05-07T00:00:00Z' }
    expect(await run('calendar_get_free_busy', { ...range, calendar_id: 'cal_tema' })).toBe(404)
    expect(await run('calendar_list_events', { ...range, calendar_id: 'cal_tema' })).toBe(404)
    expect(await run('calendar_get_free_busy', { ...range, calendar_id: 'cal_team' })).toMatchObject({ busy: [] })
  })

  it('the files refuse to move a folder into a folder inside it, also after that one was moved there', async () => {
    const make = async (name: string, parent_id: string): Promise<string> =>
      ((await run('files_create_folder', { name, parent_id })) as { id: string }).id
    const [a, b] = [await make('A', 'root'), await make('B', 'root')]
    const inside = await make('Inside', b)
    expect(await run('files_update', { id: b, parent_id: inside })).toBe(422)
    expect(await run('files_update', { id: b, parent_id: a })).toMatchObject({ parent_id: a, ancestors: ['root', a] })
    expect(await run('files_get', { id: inside })).toMatchObject({
      ancestors: expect.arrayContaining(['root', a, b]) as string[],
    })
    expect(await run('files_update', { id: a, parent_id: inside })).toBe(422)
    expect(await run('files_update', { id: b, parent_id: 'root' })).toMatchObject({ ancestors: ['root'] })
    expect(await run('files_update', { id: a, parent_id: inside })).toMatchObject({ parent_id: inside })
  })
})
