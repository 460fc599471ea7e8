import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { TestToolmock } from './toolmock.ts'

/** What takes more turns than this waits for a time-out, a disk or another process, and leaves it the processor. */
const SHORT_WAIT = 200

/** Lets the event loop turn until the condition is true. The time-out of the test ends a wait for nothing. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; !(await isTrue()); turn++) await (turn < SHORT_WAIT ? nextTurn() : pause(1))
}

/** Does something while a request waits at a rule for it, which then goes on, or earlier by `release`. @returns its answer */
export async function whileHeld<R>(
  { app, environment, http }: TestToolmock,
  { at = 'service', on = {}, do: more = [] }: { at?: string; on?: object; do?: readonly object[] },
  send: () => PromiseLike<R>,
  work: (release: () => void) => unknown,
): Promise<R> {
  const rules = [{ name: 'hold', at, on, do: [{ hold_until: { requests: 2, within: '60s' } }, ...more] }]
  await http('put', '/_mock/scenarios/held').send({ name: 'held', rules })
  await http('post', '/_mock/scenarios/held/start')
  const answer = Promise.resolve(send())
  const scenarios = app.services.scenarios.of(environment)
  await until(() => scenarios.list().some(({ name, rules: [rule] }) => name === 'held' && rule?.matched === 1))
  let isReleased = false
  const release = (): void => {
    if (!isReleased && scenarios.list().some(({ name }) => name === 'held')) scenarios.stop('held')
    isReleased = true
  }
  await work(release)
  release()
  return answer
}
