import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileRegistry, type DescService, fromBinary, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError } from '@connectrpc/connect'
import { describe, expect } from 'vitest'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { describeWith } from '../../support/machine.ts'
import { clientOf, entriesOf, failure, GOOGLE, it, type RpcMock, run, withRpc } from './fixture.ts'

const ARCHIVE = `
extension: archive
collections: { archived: {} }
responders:
  - name: archive
    on: { method: POST, path: '/api/v1/connected_accounts:archive' }
    steps: [{ create: archived, item: { id: '{{request.body.id}}' } }]
    respond: { status: 200, body: {} }
`

describe('a method whose rule names what an extension answers', () => {
  it('is served, with the errors of its steps, and recorded as the extension', async ({ mock: { folder } }) => {
    const file = join(folder, 'archive.yaml')
    await writeFile(file, ARCHIVE)
    await withRpc({ extensions: [file] }, async (mock) => {
      const accounts = clientOf(ConnectedAccounts, mock)
      await accounts.archiveAccount({ id: 'ca_1' }, mock)
      const again = await failure(accounts.archiveAccount({ id: 'ca_1' }, mock))
      expect(again.code).toBe(Code.AlreadyExists)
      const refused = await failure(accounts.archiveAccount({ id: 'ca_2' }))
      expect(refused.code).toBe(Code.Unauthenticated)
      expect(mock.app.methodTable).toContain('archive (POST /api/v1/connected_accounts:archive)')
      expect(entriesOf(mock).map(({ operation, status }) => [operation, status])).toEqual([
        ['archive', 200],
        ['archive', 409],
        ['archive', 401],
      ])
    })
  })

  it('is served once the extension is there, however late', async ({ mock }) => {
    const accounts = clientOf(ConnectedAccounts, mock)
    expect((await failure(accounts.archiveAccount({ id: 'ca_1' }, mock))).code).toBe(Code.Unimplemented)
    const headers = { 'content-type': 'application/yaml' }
    const url = `${mock.url}/_mock/extensions/archive`
    expect((await fetch(url, { method: 'PUT', headers, body: ARCHIVE })).status).toBe(200)
    await accounts.archiveAccount({ id: 'ca_1' }, mock)
  })
})

const ORGANIZATIONS = `
syntax = "proto3";
package acme.organizations.v1;
import "google/api/annotations.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/timestamp.proto";
service Organizations {
  rpc Create(CreateRequest) returns (Answer) {
    option (google.api.http) = {post: "/api/v1/organizations" body: "organization"};
  }
  rpc Get(Named) returns (Answer) { option (google.api.http) = {get: "/api/v1/organizations/{id}"}; }
  rpc Update(UpdateRequest) returns (Answer) {
    option (google.api.http) = {patch: "/api/v1/organizations/{id}" body: "organization"};
  }
  rpc List(ListRequest) returns (Page) { option (google.api.http) = {get: "/api/v1/organizations"}; }
  rpc Delete(Named) returns (google.protobuf.Empty) {
    option (google.api.http) = {delete: "/api/v1/organizations/{id}"};
  }
}
message Organization {
  string id = 1;
  string display_name = 2;
  optional string external_id = 3;
  google.protobuf.Timestamp create_time = 4;
  map<string, string> metadata = 5;
}
message CreateRequest { Organization organization = 1; }
message UpdateRequest { oneof name { string id = 1; string external_id = 3; } Organization organization = 2; }
message Named { oneof name { string id = 1; string external_id = 2; } }
message ListRequest { uint32 page_size = 1; string page_token = 2; }
message Answer { Organization organization = 1; }
message Page { repeated Organization organizations = 1; uint32 total_size = 2; }
`

/** What a program does that makes an organization before it connects an account for it. `call` throws the error code. */
async function useOrganizations(call: (name: string, message: object) => Promise<JsonValue>): Promise<unknown> {
  const { organization } = (await call('create', {
    organization: { display_name: 'Acme', external_id: 'ext_1', metadata: { plan: 'pro' } },
  })) as { organization: { id: string } }
  const { id } = organization
  const refused = (name: string, message: object) =>
    call(name, message).then(
      () => 'none',
      (error: unknown) => (error as Error).message,
    )
  return [
    await call('update', { id, organization: { display_name: 'Acme Inc.' } }),
    await call('get', { id }),
    await call('list', {}),
    await refused('create', { organization: { display_name: '' } }),
    await refused('list', { page_size: 101 }),
    await call('delete', { id }),
    await refused('get', { id }),
  ]
}

describeWith('protoc', 'a client that makes an organization first', () => {
  it('gets the same over gRPC and over REST', async ({ mock: { folder } }) => {
    await writeFile(join(folder, 'organizations.proto'), ORGANIZATIONS)
    const descriptors = join(folder, 'organizations.binpb')
    run('protoc', [`-I${folder}`, `-I${GOOGLE}`, '--include_imports', `-o${descriptors}`, 'organizations.proto'])
    await withRpc({ extensions: ['organizations'], descriptors: [descriptors], idSeed: 1 }, async (mock) => {
      const overGrpc = await useOrganizations(await grpcCalls(mock, descriptors))
      const overRest = await useOrganizations(restCalls(mock))
      const withoutIds = (seen: unknown): unknown =>
        JSON.parse(JSON.stringify(seen).replaceAll(/"org_\w+"|"\d{4}-[^"]+Z"/g, '"x"'))
      expect(withoutIds(overGrpc)).toEqual(withoutIds(overRest))
      const organization = { display_name: 'Acme Inc.', external_id: 'ext_1', metadata: { plan: 'pro' } }
      expect(overRest).toMatchObject([
        { organization },
        { organization },
        { organizations: [organization], total_size: 1 },
        'InvalidArgument',
        'InvalidArgument',
        {},
        'NotFound',
      ])
      expect(entriesOf(mock).map(({ status }) => status)).toEqual([
        201, 200, 200, 200, 400, 400, 200, 404, 201, 200, 200, 200, 400, 400, 200, 404,
      ])
    })
  })
})

describeWith('protoc', 'a request that names an organization by a oneof', () => {
  it('is served by external id, with pages of 1 to 30', async ({ mock: { folder } }) => {
    await writeFile(join(folder, 'organizations.proto'), ORGANIZATIONS)
    const descriptors = join(folder, 'organizations.binpb')
    run('protoc', [`-I${folder}`, `-I${GOOGLE}`, '--include_imports', `-o${descriptors}`, 'organizations.proto'])
    await withRpc({ extensions: ['organizations'], descriptors: [descriptors] }, async (mock) => {
      const call = await grpcCalls(mock, descriptors)
      for (const external_id of ['ext_1', 'a/b'])
        await call('create', { organization: { display_name: 'Acme', external_id } })
      const changed = { organization: { display_name: 'Acme Inc.', external_id: 'a/b' } }
      const update = { external_id: 'a/b', organization: { display_name: 'Acme Inc.' } }
      expect(await call('update', update)).toMatchObject(changed)
      expect(await call('get', { external_id: 'a/b' })).toMatchObject(changed)
      await expect(call('get', { external_id: 'other' })).rejects.toThrow('NotFound')
      await expect(call('get', {})).rejects.toThrow('InvalidArgument')
      for (const page_size of [1, 5, 30]) {
        const { organizations } = (await call('list', { page_size })) as { organizations: JsonValue[] }
        expect(organizations).toHaveLength(Math.min(page_size, 2))
      }
      await expect(call('list', { page_size: 31 })).rejects.toThrow('InvalidArgument')
      const { status } = await fetch(`${mock.url}/api/v1/organizations?page_size=5`, { headers: mock.headers })
      expect(status).toBe(400)
    })
  })
})

async function grpcCalls(mock: RpcMock, descriptors: string) {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, await readFile(descriptors)))
  const service = registry.getService('acme.organizations.v1.Organizations') as DescService
  const client = clientOf(service, mock) as Record<string, (message: object, options: object) => Promise<never>>
  return async (name: string, message: object): Promise<JsonValue> => {
    const method = service.methods.find(({ localName }) => localName === name)!
    try {
      const sent = fromJson(method.input, message as JsonValue)
      return toJson(method.output, await client[name]!(sent, mock), { useProtoFieldName: true })
    } catch (error) {
      throw new Error(Code[ConnectError.from(error).code])
    }
  }
}

function restCalls({ url, headers }: RpcMock) {
  const PATHS = { create: 'POST ', get: 'GET /{id}', update: 'PATCH /{id}', list: 'GET ', delete: 'DELETE /{id}' }
  return async (name: string, sent: { id?: string; organization?: object; page_size?: number }): Promise<JsonValue> => {
    const [method, path = ''] = PATHS[name as keyof typeof PATHS].split(' ')
    const query = sent.page_size === undefined ? '' : `?page_size=${sent.page_size}`
    const answer = await fetch(`${url}/api/v1/organizations${path.replace('{id}', sent.id ?? '')}${query}`, {
      method: method!,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(sent.organization && { body: JSON.stringify(sent.organization) }),
    })
    const body = (await answer.json()) as Record<string, JsonValue>
    if (!answer.ok) throw new Error(Code[body['code'] as number])
    return withoutUnknown(body)
  }
}

/** The definitions above have fewer fields than the answers. */
function withoutUnknown(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutUnknown)
  if (typeof value !== 'object' || value === null) return value
  const unknown = ['update_time', 'region_code', 'settings', 'next_page_token', 'prev_page_token']
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (unknown.includes(key) ? [] : [[key, withoutUnknown(each)]])),
  )
}
