import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AuthRequest, MagicLink } from '../../src/model/domain/generated/tables.ts'
import { Model } from '../../src/state/model/model.ts'

const AT = '2026-01-01T00:00:00.000Z'

function link(id: string, completed: boolean): MagicLink {
  const made = { id, account_id: 'ca_1', oauth_state: `state ${id}`, user_verify_url: '', state: null, expires_at: AT }
  return completed ? { ...made, completed_at: AT } : made
}

function request(id: string, account_id: string, outcome: AuthRequest['outcome']): AuthRequest {
  return { id, account_id, identifier: '', expires_at: AT, outcome }
}

const ID = fc.constantFrom('1', '2', '3', '4', '5')
const STEP = fc.oneof(
  fc.record({ kind: fc.constant('link' as const), id: ID, completed: fc.boolean() }),
  fc.record({
    kind: fc.constant('request' as const),
    id: ID,
    account: fc.constantFrom('ca_1', 'ca_2'),
    outcome: fc.constantFrom('pending' as const, 'consumed' as const, 'superseded' as const),
  }),
  fc.record({ kind: fc.constant('removal' as const), id: ID }),
)

function take({ tables }: Model, step: typeof STEP extends fc.Arbitrary<infer Step> ? Step : never): void {
  if (step.kind === 'link') tables.magic_links.put(link(step.id, step.completed))
  else if (step.kind === 'request') tables.auth_requests.put(request(step.id, step.account, step.outcome))
  else tables.auth_requests.remove(step.id)
}

it('are the same rows as those of a scan, after any changes and undos', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ steps: fc.array(STEP), fails: fc.boolean() })), (transactions) => {
      const model = new Model(() => undefined)
      for (const { steps, fails } of transactions) {
        const work = (): void => {
          for (const step of steps) take(model, step)
          if (fails) throw new Error('undone')
        }
        if (fails) expect(() => model.transact(work)).toThrow('undone')
        else model.transact(work)
        const { tables } = model
        const open = [...tables.magic_links.values()].filter(({ completed_at }) => completed_at === undefined)
        expect(model.openLinks()).toEqual(open)
        for (const account of ['ca_1', 'ca_2', 'ca_3']) {
          const pending = [...tables.auth_requests.values()].filter(
            ({ account_id, outcome }) => account_id === account && outcome === 'pending',
          )
          expect(new Set(model.pendingRequests.get(account))).toEqual(new Set(pending))
        }
      }
    }),
  )
})
