import { styleText } from 'node:util'
import type { Terminal } from './command.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta'

export type Paint = (style: Style, text: string) => string

const PLAIN: Paint = (_, text) => text
// Whether the terminal has colours is known by then.
const COLOURED: Paint = (style, text) => styleText(style, text, { validateStream: false })

export function paintFor(terminal: Terminal | undefined): Paint {
  return terminal?.isColoured === true ? COLOURED : PLAIN
}
