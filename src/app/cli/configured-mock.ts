import type { AppOptions } from '../options.ts'
import { findConfiguration } from './find-configuration.ts'
import { mockOfConfiguration } from './server-options.ts'

/** What the configuration file says of a mock, for the library. @throws StartError; DocumentError with every problem of the file */
export async function configuredMock(path: string | undefined): Promise<AppOptions> {
  return mockOfConfiguration(await findConfiguration(path))
}
