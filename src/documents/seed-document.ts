import type { CredentialsPatch } from '../domain/credentials.ts'
import type { Connector } from '../domain/connector.ts'
import type { SeedAccount, SeedBundle } from '../domain/seed.ts'
import { toConnector } from './connector-document.ts'
import type { SeedDocument } from './seed-schema.ts'

/** The seed that a valid document describes; `files` are the connectors that its list may name. */
export function toBundle(document: SeedDocument, files: readonly Connector[]): SeedBundle {
  const named = new Map(files.map((connector) => [connector.connector, connector]))
  return {
    clients: (document.clients ?? []).map(({ client_id, client_secret }) => ({ id: client_id, client_secret })),
    settings: present(document.settings ?? {}),
    connectors: (document.connectors ?? []).flatMap((item) =>
      typeof item === 'string' ? (named.get(item) ?? []) : [toConnector(item)],
    ),
    connections: (document.connections ?? []).map(present),
    providers: (document.providers ?? []).map(present),
    accounts: (document.accounts ?? []).map(toAccount),
    generate: document.generate === undefined ? [] : [document.generate].flat(),
  }
}

function toAccount({ authorization_type: _checked, ...document }: AccountDocument): SeedAccount {
  const { authorization_details: details, ...rest } = document
  return { ...present(rest), ...(details && { authorization_details: toPatch(details) }) }
}

function toPatch({ oauth_token, static_auth, workspace_dwd, trusted_idp }: DetailsDocument): CredentialsPatch {
  return {
    ...(oauth_token && { oauth_token: present(oauth_token) }),
    ...(static_auth && { static_auth: present(static_auth) }),
    ...(workspace_dwd && { workspace_dwd: present(workspace_dwd) }),
    ...(trusted_idp && { trusted_idp: present(trusted_idp) }),
  }
}

type AccountDocument = NonNullable<SeedDocument['accounts']>[number]
type DetailsDocument = NonNullable<AccountDocument['authorization_details']>

/** The same object without keys that hold `undefined`. */
function present<T extends object>(object: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}
