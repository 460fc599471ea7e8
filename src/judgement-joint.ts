export { verdictMarkdown } from './verdict/formats/markdown.ts'
export { verdictText } from './verdict/formats/text.ts'
export { verdictOf } from './verdict/verdict.ts'
export { readVerdictOptions, VerdictOptionError, type VerdictOptions } from './verdict/verdict-options.ts'
