import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { expectControlError, withControl } from '../servers/control/control-mock.ts'
import { withDirectory } from '../support/registry.ts'

const SEED = JSON.stringify({
  clients: [
    { client_id: 'test_client', client_secret: 'test_secret' },
    { client_id: 'ci-*', client_secret: 'ci' },
  ],
})

it('is reported with file and reason while it cannot be read, and is read the next time', () =>
  withDirectory(async (directory) => {
    const [state, seed, away] = [join(directory, 'state.json'), join(directory, 'seed.json'), join(directory, 'away')]
    await writeFile(seed, SEED)
    const options = { state, seeds: ['bundled', seed] }
    await withControl(options, () => Promise.resolve())
    await rename(seed, away)
    await withControl(options, async ({ http, call, token }) => {
      const ask = (client_id: string, client_secret: string) =>
        http('post', '/oauth/token').type('form').send({ grant_type: 'client_credentials', client_id, client_secret })
      const reason = `${seed}: there is no such file or folder`

      const unknown = await ask('nobody', 'ci')
      expect(unknown.status).toBe(401)
      expect(unknown.body).toEqual({
        error: 'invalid_client',
        error_description: `client_id or client_secret is wrong; client id patterns are not known, because the seed of the server cannot be read: ${reason}`,
      })
      const wrong = await ask('test_client', 'wrong')
      expect(wrong.body.error_description).toBe('client_id or client_secret is wrong')
      // The state file contains the client id pattern of the seed.
      const fitting = await ask('ci-1', 'ci')
      expect(fitting.status).toBe(503)
      expect(fitting.body.message).toContain(reason)
      const made = await call('post', '/environments', {})
      expect(expectControlError(made, 503, 'STORAGE_UNAVAILABLE').message).toContain(reason)

      await rename(away, seed)
      expect(await token('ci-1', 'ci')).toEqual(expect.any(String))
      expect((await ask('nobody', 'ci')).body.error_description).toBe('client_id or client_secret is wrong')
      expect((await call('post', '/environments', {})).status).toBe(201)
    })
  }))
