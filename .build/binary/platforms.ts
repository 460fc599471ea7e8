import { ROOT } from '../project.ts'

export const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win-x64'] as const
export type Platform = (typeof PLATFORMS)[number]

/** The platform of this machine. */
export const HOST = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}` as Platform

/** Where the executables are put. */
export const BINARIES = `${ROOT}.build/binary/dist`

export function binaryName(platform: Platform): string {
  return `toolmock-${platform}${platform.startsWith('win') ? '.exe' : ''}`
}
