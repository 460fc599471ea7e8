import { type JsonObject, textOf } from '../../model/domain/json.ts'
import { type ServiceResponse, Skipped } from './service-response.ts'
import type { ControlApi, ConsentDecision, TestEnvironment } from './control-api.ts'
import { Catalog, credentialsOf, createBodyStoring } from './catalog.ts'
import { TestResources } from './resources.ts'
import { Api } from './target.ts'

/** Where the calling application expects its users back. */
export const VERIFY_URL = 'https://app.example/back?tab=1'

export interface ContextOptions {
  readonly api: Api
  /** What the names of everything that the run creates start with. */
  readonly prefix: string
  /** The connector to check with, in place of the first one of type OAUTH. */
  readonly connector: string | undefined
  readonly control: ControlApi | undefined
  readonly allowProviderChanges: boolean
}

export interface CreatedAccount {
  readonly id: string
  readonly identifier: string
  readonly connector: string
  readonly organization_id: string
  /** The answer that created it. */
  readonly created: ServiceResponse
}

/** What a check may use in an environment of its own. */
export type OwnContext = CheckContext & { readonly environment: TestEnvironment }

/** What a check may use: the target, and names, accounts and providers that are removed at the end of the run. */
export class CheckContext {
  readonly api: Api
  readonly resources: TestResources
  readonly catalog: Catalog
  readonly #options: ContextOptions
  readonly #shared = new Map<string, Promise<unknown>>()

  constructor(options: ContextOptions) {
    this.#options = options
    this.api = options.api
    this.resources = new TestResources(options.api, options.prefix)
    this.catalog = new Catalog(options.api, options.connector)
  }

  /** Created once and used by every check that asks for it; no check may change it. */
  shared<T>(name: string, make: (context: CheckContext) => Promise<T>): Promise<T> {
    const value = (this.#shared.get(name) as Promise<T> | undefined) ?? make(this)
    this.#shared.set(name, value)
    return value
  }

  /** Requests an account with a new organization and identifier, unless the body names some. */
  async create(body: JsonObject = {}): Promise<ServiceResponse> {
    const response = await this.api.post('/connected_accounts', await this.newAccount(body))
    this.resources.addAccount(response)
    return response
  }

  async newAccount(body: JsonObject = {}): Promise<JsonObject> {
    const connector = body['connector'] ?? (await this.catalog.main()).name
    const scope = 'organization_id' in body || 'user_id' in body ? {} : { organization_id: this.resources.name('org') }
    return { connector, identifier: this.resources.identifier(), ...scope, ...body }
  }

  /** An account without credentials. @throws Broken */
  async account(body: JsonObject = {}): Promise<CreatedAccount> {
    const asked = await this.newAccount(body)
    const created = (await this.create(asked)).is(201)
    return {
      id: created.string('connected_account.id'),
      identifier: textOf(asked['identifier']),
      connector: textOf(asked['connector']),
      organization_id: textOf(asked['organization_id']),
      created,
    }
  }

  createAgain({ connector, identifier, organization_id }: CreatedAccount): Promise<ServiceResponse> {
    return this.create({ connector, identifier, organization_id })
  }

  /** An account at the first connector of a type. @throws Broken, Skipped */
  async accountAt(type: string, body: JsonObject = {}): Promise<CreatedAccount> {
    const { name: connector } = await this.catalog.ofType(type)
    return this.account({ connector, ...body })
  }

  /** New credentials for the connector that most checks use. */
  async credentials(): Promise<JsonObject> {
    return credentialsOf((await this.catalog.main()).kind, this.resources.name('cred'))
  }

  /** An account with stored credentials. @throws Broken */
  async active(body: JsonObject = {}): Promise<CreatedAccount> {
    return this.account({ ...createBodyStoring(await this.credentials()), ...body })
  }

  /** The account with stored credentials that checks share. No check may change it. @throws Broken */
  activeAccount(): Promise<CreatedAccount> {
    return this.shared('account', (fresh) => fresh.active())
  }

  execute({ id }: { id: string }, { name }: { name: string }, tool_input: JsonObject = {}): Promise<ServiceResponse> {
    return this.api.post('/execute_tool', { connected_account_id: id, tool_name: name, tool_input })
  }

  /** The account object of get-details. @throws Broken */
  async details(id: string): Promise<ServiceResponse> {
    return (await this.api.get('/connected_accounts/details', { id })).is(200)
  }

  /** The account object of get-auth. @throws Broken */
  async auth(id: string): Promise<ServiceResponse> {
    return (await this.api.get('/connected_accounts/auth', { id })).is(200)
  }

  link(body: JsonObject): Promise<ServiceResponse> {
    return this.api.post('/connected_accounts/magic_link', body)
  }

  /** The account's user decides a magic link; answers where the browser is sent. @throws Broken, Skipped */
  async consent(account: { id: string }, body: JsonObject = {}, decision: ConsentDecision = 'approve'): Promise<URL> {
    const control = this.control()
    const response = await this.link({ id: account.id, user_verify_url: VERIFY_URL, ...body })
    return control.decide(response.is(200).string('link'), decision)
  }

  /** The auth request id of an account whose user has just approved. @throws Broken, Skipped */
  async pendingRequest(account: { id: string }): Promise<string> {
    return (await this.consent(account)).searchParams.get('auth_request_id') ?? ''
  }

  /** An account whose user has just approved, and the auth request id of that. @throws Broken, Skipped */
  async approved(): Promise<{ account: CreatedAccount; request: string }> {
    const account = await this.account()
    return { account, request: await this.pendingRequest(account) }
  }

  /** An account after its user has approved and was verified. @throws Broken, Skipped */
  async verified(created?: CreatedAccount): Promise<CreatedAccount> {
    const account = created ?? (await this.account())
    ;(await this.verify(await this.pendingRequest(account), account.identifier)).is(200)
    return account
  }

  verify(auth_request_id: string, identifier: string): Promise<ServiceResponse> {
    return this.api.post('/connected_accounts/user/verify', { auth_request_id, identifier })
  }

  /** @throws Skipped when consent needs a browser */
  control(): ControlApi {
    if (this.#options.control) return this.#options.control
    throw new Skipped('needs the consent of a user: --consent control-api gives it at a toolmock')
  }

  /** A context in a new environment of a seed, whose clock the check may move. @throws Skipped at another target */
  async ownEnvironment(seed?: JsonObject): Promise<OwnContext> {
    const { control } = this.#options
    if (!control) throw new Skipped('needs a clock that can be moved: --consent control-api moves that of a toolmock')
    const environment = await control.createEnvironment(seed)
    this.resources.add(`environment ${environment.name}`, () => environment.remove())
    const api = new Api(this.api.target, environment.client)
    return Object.assign(new CheckContext({ ...this.#options, api }), { environment })
  }

  /** Creates a provider. @throws Skipped unless the run may change providers */
  async provider(body: JsonObject = {}): Promise<ServiceResponse> {
    if (!this.#options.allowProviderChanges)
      throw new Skipped('changes providers of the target: --allow-provider-changes allows that')
    const response = await this.api.post('/custom-providers', {
      display_name: this.resources.name('provider'),
      ...body,
    })
    this.resources.addProvider(response)
    return response
  }
}
