import { expect, it } from 'vitest'
import { testEnvironment } from '../support/environment.ts'

it('is absent without words, follows the setting, and is built once for each set of words', () => {
  const environment = testEnvironment()
  expect(environment.vocabulary).toBeUndefined()

  environment.configure({ vocabulary: { status: 'phase' } })
  const { vocabulary } = environment
  expect(vocabulary?.prose('the status')).toBe('the phase')
  expect(environment.vocabulary).toBe(vocabulary)

  environment.configure({ vocabulary: { status: 'stage' } })
  expect(environment.vocabulary?.prose('the status')).toBe('the stage')
})
