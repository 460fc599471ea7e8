import { createServer } from 'node:http'

// The lowest cost of a request in Node: reads the body of each request and answers with the bytes of its first argument.
const {
  status = 200,
  headers = { 'Content-Type': 'application/json' },
  body = '{}',
} = JSON.parse(process.argv[2] ?? '{}')

const answer = (response) => {
  response.writeHead(status, headers)
  response.end(body)
}
const server = createServer((request, response) => {
  if (request.method === 'GET') return answer(response)
  request.on('data', () => {})
  request.on('end', () => answer(response))
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
