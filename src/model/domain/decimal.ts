/** A number as JSON writes it: `digits` times ten to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

/** Whether a number is a multiple of another, as decimals: 19.99 is one of 0.01, though the double nearest to it is not. */
export function isMultipleOf(value: number, step: number): boolean {
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0
  const [a, b] = [decimalOf(value), decimalOf(step)]
  const least = Math.min(a.exponent, b.exponent)
  const [dividend, divisor] = [a, b].map(({ digits, exponent }) => digits * 10n ** BigInt(exponent - least))
  return (dividend ?? 0n) % (divisor ?? 1n) === 0n
}

export function decimalOf(value: number): Decimal {
  const [coefficient = '', power = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = coefficient.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}
