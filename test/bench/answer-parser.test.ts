import { expect, it } from 'vitest'
import { AnswerParser } from '../../bench/load/answer-parser.ts'

it.each([
  ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 200],
  ['in chunks', 'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', 201],
  ['without a body', 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n', 404],
])('%s are counted once, at their last byte', (_, text, status) => {
  const statuses: number[] = []
  const parser = new AnswerParser((each) => statuses.push(each))
  for (const byte of text.slice(0, -1)) parser.feed(Buffer.from(byte))
  expect(statuses).toEqual([])
  parser.feed(Buffer.from(text.slice(-1)))
  parser.feed(Buffer.from(text))
  expect(statuses).toEqual([status, status])
})
