import { Agent, createServer, request as send } from 'node:http'

// The lowest cost of a tool execution in one process: a server that calls a second one over a keep-alive connection, with the
// method, path and body of the tool's call, and answers with the bytes of its first argument.
const { call, headers = { 'Content-Type': 'application/json' }, body = '{}' } = JSON.parse(process.argv[2] ?? '{}')
const agent = new Agent({ keepAlive: true })

const thirdParty = createServer((request, response) => {
  request.on('data', () => {})
  request.on('end', () => {
    response.writeHead(call.status, { 'Content-Type': 'application/json' })
    response.end(call.answer)
  })
})

const server = createServer((request, response) => {
  if (request.method === 'GET') return response.writeHead(404).end()
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    JSON.parse(Buffer.concat(parts).toString())
    const { port } = thirdParty.address()
    const options = { agent, port, host: '127.0.0.1', method: call.method, path: call.path, headers: call.headers }
    const hop = send(options, (answered) => {
      const received = []
      answered.on('data', (part) => received.push(part))
      answered.on('end', () => {
        JSON.parse(Buffer.concat(received).toString())
        response.writeHead(200, headers)
        response.end(body)
      })
    })
    hop.end(call.body)
  })
})

thirdParty.listen(0, '127.0.0.1', () => {
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
})
