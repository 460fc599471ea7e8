/** What is loaded when it is first opened. */
export { Comparison } from './compare.tsx'
export { Editor } from './editor.tsx'
