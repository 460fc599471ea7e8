/** Environment names are parts of paths and queries, and of the file names of users who keep one file each (1.2). */
export const ENVIRONMENT_NAME = /^[A-Za-z0-9._-]{1,64}$/
export const ENVIRONMENT_NAME_RULE = 'a name of 1 to 64 letters, digits, ".", "_" and "-"'
