import type { JsonObject } from '../domain/json.ts'
import { type Answer, textOf } from './answer.ts'
import { Api } from './api.ts'
import { Skipped } from './verdict.ts'
import type { ControlApi, Decision } from './control-api.ts'
import { Ledger } from './ledger.ts'
import type { Observed } from './judge.ts'
import { credentialsOf, Offer } from './offer.ts'
import { OwnEnvironment } from './own-world.ts'
import type { Wire } from './wire.ts'

/** Where the calling application takes its users back. */
export const VERIFY_URL = 'https://app.example/back?tab=1'

export interface ContextOptions {
  readonly wire: Wire
  readonly api: Api
  /** What the names of everything that the run makes begin with. */
  readonly prefix: string
  /** The connector to check with, instead of the first that the target offers. */
  readonly connector: string | undefined
  /** What the shapes of answers are judged by; undefined where nobody does. */
  readonly observed?: Observed | undefined
  readonly control: ControlApi | undefined
  readonly allowProviderChanges: boolean
}

/** An account that the run has made. */
export interface MadeAccount {
  readonly id: string
  readonly identifier: string
  readonly connector: string
  readonly organization_id: string
  /** The answer that created it. */
  readonly created: Answer
}

/** What a check is given: the target, and names, accounts and providers of its own that are taken away again. */
export class CheckContext {
  readonly wire: Wire
  readonly api: Api
  readonly ledger: Ledger
  readonly offer: Offer
  readonly observed: Observed | undefined
  readonly #options: ContextOptions
  readonly #shared = new Map<string, Promise<unknown>>()

  constructor(options: ContextOptions) {
    this.#options = options
    this.wire = options.wire
    this.api = options.api
    this.observed = options.observed
    this.ledger = new Ledger(options.api, options.prefix)
    this.offer = new Offer(options.api, options.connector)
  }

  /** Made once and used by every check that asks for it; a check must leave it as it is. */
  shared<T>(name: string, make: (context: CheckContext) => Promise<T>): Promise<T> {
    const known = this.#shared.get(name) as Promise<T> | undefined
    const made = known ?? make(this)
    if (!known) this.#shared.set(name, made)
    return made
  }

  /** Asks for an account in an organization and with an identifier of its own, unless the body says otherwise. */
  async create(body: JsonObject = {}): Promise<Answer> {
    const answer = await this.api.post('/connected_accounts', await this.newAccount(body))
    this.ledger.noteAccount(answer)
    return answer
  }

  /** The body of a create. */
  async newAccount(body: JsonObject = {}): Promise<JsonObject> {
    const connector = body['connector'] ?? (await this.offer.main()).name
    const scope = 'organization_id' in body || 'user_id' in body ? {} : { organization_id: this.ledger.name('org') }
    return { connector, identifier: this.ledger.identifier(), ...scope, ...body }
  }

  /** An account without credentials. @throws Broken */
  async account(body: JsonObject = {}): Promise<MadeAccount> {
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

  /** An account with stored credentials. @throws Broken */
  async active(body: JsonObject = {}): Promise<MadeAccount> {
    const { kind } = await this.offer.main()
    const details = credentialsOf(kind, this.ledger.name('cred'))
    return this.account({ connected_account: { authorization_details: details }, ...body })
  }

  /** The account object of get-details. @throws Broken */
  async details(id: string): Promise<Answer> {
    return (await this.api.get('/connected_accounts/details', { id })).is(200)
  }

  /** The account object of get-auth. @throws Broken */
  async auth(id: string): Promise<Answer> {
    return (await this.api.get('/connected_accounts/auth', { id })).is(200)
  }

  /** Asks for a magic link. */
  link(body: JsonObject): Promise<Answer> {
    return this.api.post('/connected_accounts/magic_link', body)
  }

  /** Sends the account's user through consent; answers where the browser is sent. @throws Broken, Skipped */
  async consent(account: { id: string }, body: JsonObject = {}, decision: Decision = 'approve'): Promise<URL> {
    const control = this.control()
    const answer = await this.link({ id: account.id, user_verify_url: VERIFY_URL, ...body })
    return control.decide(answer.is(200).string('link'), decision)
  }

  /** The id that verify asks for, of an account whose user has just approved. @throws Broken, Skipped */
  async pendingRequest(account: { id: string }): Promise<string> {
    return (await this.consent(account)).searchParams.get('auth_request_id') ?? ''
  }

  verify(auth_request_id: string, identifier: string): Promise<Answer> {
    return this.api.post('/connected_accounts/user/verify', { auth_request_id, identifier })
  }

  /** @throws Skipped where consent cannot be given without a browser */
  control(): ControlApi {
    if (this.#options.control) return this.#options.control
    throw new Skipped('needs a user who consents: --consent control-api does so at a toolmock')
  }

  /** An environment of a toolmock whose clock the check may move. @throws Skipped elsewhere */
  async ownEnvironment(): Promise<{ registry: OwnEnvironment; own: CheckContext }> {
    if (!this.#options.control)
      throw new Skipped('needs a clock that moves: --consent control-api has one at a toolmock')
    const { name, client } = await this.#options.control.environment()
    const api = new Api(this.wire, client)
    return {
      registry: new OwnEnvironment(name, this.#options.control),
      own: new CheckContext({ ...this.#options, api }),
    }
  }

  /** Creates a provider. @throws Skipped unless the run may change providers */
  async provider(body: JsonObject = {}): Promise<Answer> {
    this.mayChangeProviders()
    const answer = await this.api.post('/custom-providers', { display_name: this.ledger.name('provider'), ...body })
    this.ledger.noteProvider(answer)
    return answer
  }

  /** @throws Skipped */
  mayChangeProviders(): void {
    if (!this.#options.allowProviderChanges)
      throw new Skipped('changes providers of the target: --allow-provider-changes allows that')
  }
}
