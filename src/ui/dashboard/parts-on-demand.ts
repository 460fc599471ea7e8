/** What is loaded when it is first opened. */
export { Comparison } from './compare.tsx'
export { DataView } from './data.tsx'
export { Editor } from './editor.tsx'
export { Edit, sendAgain } from './send-again.tsx'
export { snippetIn } from './snippets.ts'
