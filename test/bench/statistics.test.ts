import { expect, it } from 'vitest'
import { judge } from '../../bench/bars.ts'
import { medianOf, quotients, spreadOf } from '../../bench/statistics.ts'

it.each([
  [[3], 3, 3, 3],
  [[3, 1, 2], 2, 1, 3],
  [[10, 2, 4, 1], 3, 1, 10],
  [[2, 10, 1], 2, 1, 10],
])('spread of rounds: of %j has the median %d between %d and %d', (values, median, min, max) => {
  expect(spreadOf(values)).toEqual({ median, min, max, rounds: values.length })
  expect(medianOf(values)).toBe(median)
})

it('spread of rounds: of an empty list is an error, not a number', () => {
  expect(() => spreadOf([])).toThrow('no round')
})

it('spread of rounds: of quotients compares round with round', () => {
  expect(quotients([10, 30], [20, 10])).toEqual([0.5, 3])
  expect(() => quotients([1], [])).toThrow('different numbers of rounds')
})

it.each([
  ['start', 1.5, 'moonshot'],
  ['start', 1.51, 'bar'],
  ['start', 2.2, 'bar'],
  ['start', 2.21, 'missed'],
  ['get-details', 0.85, 'moonshot'],
  ['get-details', 0.5, 'bar'],
  ['get-details', 0.49, 'missed'],
  ['create-flat', Number.NaN, 'missed'],
] as const)('verdict: on %s at %d is %s', (name, value, verdict) => {
  expect(judge(name, value)).toBe(verdict)
})
