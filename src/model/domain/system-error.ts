/** The code that the operating system or Node.js gives an error, such as `ENOENT`; undefined where it has none. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(systemCode(error) ?? '')
}

/** Why a file cannot be used, or a connection failed: the code where there is one. */
export function systemReason(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : String(error))
}
