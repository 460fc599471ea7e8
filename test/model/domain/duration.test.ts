import { expect, it } from 'vitest'
import { parseDuration } from '../../../src/model/domain/duration.ts'

it.each([
  ['90s', 90_000],
  ['15m', 900_000],
  ['2h', 7_200_000],
  ['1h30m', 5_400_000],
  ['1d', 86_400_000],
  ['250ms', 250],
  ['1.5s', 1500],
  ['PT5M', 300_000],
  ['P1D', 86_400_000],
  ['P1W', 604_800_000],
  ['P1DT12H', 129_600_000],
  ['PT0.5S', 500],
  ['24h', 86_400_000],
  ['P10W', 6_048_000_000],
  ['PT15M', 900_000],
  ['PT30S', 30_000],
  ['PT0.25S', 250],
  ['30', 30_000],
  [30, 30_000],
  [0, 0],
  // Ten years, the maximum, in every notation.
  ['3660d', 316_224_000_000],
  ['P3660D', 316_224_000_000],
  ['316224000', 316_224_000_000],
  // Parts of a millisecond are rounded.
  ['1.0004s', 1000],
  ['1.0006s', 1001],
  [0.0005, 1],
])('%j is %d milliseconds', (written, milliseconds) => {
  expect(parseDuration(written)).toBe(milliseconds)
})

it.each([
  '',
  ' ',
  's',
  'P',
  'PT',
  'P1DT',
  '5 m',
  '5M',
  'every P1D',
  '-5m',
  -1,
  '1m1h',
  '1h 30m',
  'P1Y',
  'P1M',
  '1e3',
  'NaN',
  NaN,
  Infinity,
  '0x10',
  '99999d',
  '3660d1ms',
  'P3660DT0.001S',
  '316224000.001',
  'P99999D',
  '99999999999',
])('%j is not a duration', (written) => {
  expect(parseDuration(written)).toBeUndefined()
})
