import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import type { GenMessage } from '@bufbuild/protobuf/codegenv2'
import { type Client, credentials, makeClientConstructor, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect } from 'vitest'
import { ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { describeWith, PYTHON } from '../../support/machine.ts'
import { DESCRIPTORS, GOOGLE, it, PROTO, ROOT, run } from './fixture.ts'

describeWith('gRPC for Python', 'Python, with code of its own generator', () => {
  const toolmock = ToolmockProcess.forThisFile()
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolmock-python-'))
    run('protoc', [
      `-I${PROTO}`,
      `-I${GOOGLE}`,
      `--python_out=${folder}`,
      `--grpc_python_out=${folder}`,
      `--plugin=protoc-gen-grpc_python=${run('sh', ['-c', 'command -v grpc_python_plugin']).trim()}`,
      'acme/tools/v1/tools.proto',
      'google/api/annotations.proto',
      'google/api/http.proto',
    ])
  })
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['without TLS', []],
    ['over TLS, which it trusts by its variables', ['--tls']],
  ])('goes through the whole flow %s', async (_how, flags) => {
    const command = [PYTHON, join(ROOT, 'test/servers/rpc/client.py'), folder]
    const args = ['run', ...flags, '--descriptors', DESCRIPTORS, '--', ...command]
    const { stdout, stderr } = await toolmock.begin(args).end
    expect([stdout.toString(), stderr.toString()]).toEqual([
      'walked\n',
      expect.stringContaining('the contract was kept'),
    ])
  })
})

/** Calls a method with grpc-js only. */
function call(client: Client, name: string, message: object, token: string): Promise<Message> {
  const desc = ConnectedAccounts.methods.find((method) => method.name === name)!
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${ConnectedAccounts.typeName}/${name}`,
      (value: Message) => Buffer.from(toBinary(desc.input as GenMessage<Message>, value)),
      (octets: Buffer) => fromBinary(desc.output as GenMessage<Message>, octets),
      create(desc.input as GenMessage<Message>, message),
      metadata,
      (error: ServiceError | null, answer?: Message) => {
        if (answer) resolve(answer)
        else reject(error ?? new Error('no answer'))
      },
    )
  })
}

const Connected = makeClientConstructor({}, ConnectedAccounts.typeName)

it('grpc-js: calls without TLS', async ({ mock: { url, token } }) => {
  const client = new Connected(new URL(url).host, credentials.createInsecure())
  try {
    const made = await call(client, 'CreateAccount', { connector: 'mail', identifier: 'ada@example.com' }, token)
    expect(made).toMatchObject({ connectedAccount: { connector: 'mail', status: 3 } })
    const missing = call(client, 'GetDetails', { id: 'ca_unknown' }, token)
    await expect(missing).rejects.toMatchObject({
      code: status.NOT_FOUND,
      details: expect.stringContaining('ca_unknown'),
    })
    await expect(call(client, 'ArchiveAccount', {}, token)).rejects.toMatchObject({ code: status.UNIMPLEMENTED })
    await expect(call(client, 'ListAccounts', {}, 'other')).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
  } finally {
    client.close()
  }
})

it('grpc-js: calls over TLS', async ({ startMock }) => {
  const { url, app } = await startMock({ tls: { hosts: [] } })
  const roots = readFileSync(app.authorityFile ?? '')
  const client = new Connected(new URL(url).host, credentials.createSsl(roots))
  try {
    await expect(call(client, 'ListAccounts', {}, 'other')).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
  } finally {
    client.close()
  }
})
