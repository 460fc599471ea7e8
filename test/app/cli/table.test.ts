import { expect, it } from 'vitest'
import { type Column, tableText } from '../../../src/app/cli/table.ts'
import { wrapText } from '../../../src/platform/terminal.ts'

interface Row {
  readonly name: string
  readonly text: string
  readonly id: string
}

const ROW: Row = { name: 'mail', text: 'one two three four five', id: 'ca_0123456789' }
const columns = (below?: true): Column<Row>[] => [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'TEXT', wraps: true, cell: ({ text }) => text },
  { title: 'ID', ...(below && { below }), cell: ({ id }) => id },
]
const terminal = (width: number, isColoured = false) => ({ columns: width, isColoured })

it('has one line for each row where there is no terminal, and where the terminal is as wide', () => {
  const table = 'NAME  TEXT                     ID\nmail  one two three four five  ca_0123456789'
  expect(tableText(columns(), [ROW], undefined)).toBe(table)
  expect(tableText(columns(), [ROW], terminal(44))).toBe(table)
})

it('wraps the columns that wrap, and no id, where the terminal is narrower', () => {
  expect(tableText(columns(), [ROW], terminal(43))).toBe(
    ['NAME  TEXT                    ID', 'mail  one two three four      ca_0123456789', '      five'].join('\n'),
  )
  const narrow = tableText(columns(), [ROW], terminal(34)).split('\n')
  expect(narrow.slice(1)).toEqual(['mail  one two three  ca_0123456789', '      four five'])
})

it('puts a last column that does not fit into a line of its own', () => {
  expect(tableText(columns(true), [ROW], terminal(43)).split('\n')).toEqual([
    'NAME  TEXT',
    '  ID',
    'mail  one two three four five',
    '  ca_0123456789',
  ])
})

it('does not count colours as width, and escapes control characters', () => {
  const styled: Column<Row>[] = [
    { title: 'NAME', cell: ({ name }) => name, style: () => 'green' },
    ...columns().slice(1),
  ]
  const row = { ...ROW, name: 'a\u001b[2J', text: 'x' }
  expect(tableText(styled, [row], terminal(80, true)).split('\n')[1]).toBe(
    '\u001b[32ma\\u{1b}[2J\u001b[39m  x     ca_0123456789',
  )
})

it('breaks a word that is longer than its line, and never between a letter and its accent', () => {
  expect(wrapText('abcdef', 4)).toEqual(['abcd', 'ef'])
  expect(wrapText('e\u0301e\u0301e\u0301', 2)).toEqual(['e\u0301e\u0301', 'e\u0301'])
  expect(wrapText('one two three', 7, 5)).toEqual(['one two', 'three'])
})
