import { describe, expect, it } from 'vitest'
import { StateError } from '../../src/store/store-errors.ts'
import { openTestWorld } from '../support/worlds.ts'

describe('a state file', () => {
  it.runIf(process.platform === 'linux')(
    'in a folder that cannot be made, as in /proc, is refused at once',
    async () => {
      const file = '/proc/nope/deeper/state.json'
      const refused = await openTestWorld({ file }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(StateError)
      expect(String(refused)).toContain(`${file}: it cannot be used as state file: ENOENT`)
    },
  )
})
