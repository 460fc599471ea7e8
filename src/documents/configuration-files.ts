/** What a configuration file may be called. In a folder of seeds it is no part of them. */
export const CONFIGURATION_FILES: readonly string[] = ['toolmock.config.yaml', 'toolmock.config.json']
