import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type InstalledPackage, installedPackage, installPackage } from '../package-install.ts'
import type { Target } from '../rounds.ts'
import { freePort, ServerProcess } from '../server-process.ts'
import { type Served, servedAt, TOKEN_QUESTION } from '../toolmock.ts'
import { requestText } from '../wire.ts'
import { accountRecords } from './account-records.ts'
import { PEERS, type Peer, type PeerName } from './peer-list.ts'

/** Servers of peers, with what they are asked; they are ended where their block ends. */
export interface PeerTargets extends AsyncDisposable {
  targets: Record<string, Target>
}

const API = '/api/v1/connected_accounts'

/** Other mocks on the same work: installed by the bench itself, in a folder that is kept. */
export class Peers {
  readonly #folder: string
  readonly #spec: string
  readonly installed = new Map<PeerName, InstalledPackage>()
  /** Why a peer is not there. */
  readonly absent = new Map<PeerName, string>()

  constructor(options: { folder: string; spec: string }) {
    this.#folder = options.folder
    this.#spec = options.spec
    for (const peer of PEERS) this.#install(peer)
  }

  get starters(): { name: string; start: () => Promise<Served> }[] {
    return this.#there().map((peer) => ({ name: peer.name, start: () => this.#start(peer, 100) }))
  }

  details(headers: Record<string, string>): Promise<PeerTargets> {
    const contract = (url: string): string =>
      requestText(`${url}${API}/details?id=ca_00000000000000000001`, { headers })
    return this.#targets(100, 200, {
      'prism-cli': contract,
      'mockoon-cli': contract,
      'json-server': (url) => requestText(`${url}/connected_accounts/ca_1`),
    })
  }

  creates(): Promise<PeerTargets> {
    const body = JSON.stringify({ connector: 'mail', identifier: '########@load.example', user_id: 'user_2' })
    const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer token' }
    const contract = (url: string): string => requestText(`${url}${API}`, { method: 'POST', headers, body })
    return this.#targets(100, 201, {
      'prism-cli': contract,
      'mockoon-cli': contract,
      'json-server': (url) => requestText(`${url}/connected_accounts`, { method: 'POST', headers, body }),
    })
  }

  pages(): Promise<PeerTargets> {
    return this.#targets(100_000, 200, {
      'json-server': (url) => requestText(`${url}/connected_accounts?_page=1&_limit=10`),
    })
  }

  tokens(): Promise<PeerTargets> {
    return this.#targets(100, 200, { 'oauth2-mock-server': (url) => requestText(`${url}/token`, TOKEN_QUESTION) })
  }

  #there(): readonly Peer[] {
    return PEERS.filter(({ name }) => this.installed.has(name))
  }

  #install({ name, packageName, version }: Peer): void {
    const into = join(this.#folder, `${name}-${version}`)
    try {
      this.installed.set(name, installedPackage(into, packageName))
      return
    } catch {
      // Not there yet, or not all of it.
    }
    try {
      this.installed.set(name, installPackage(into, packageName, [`${packageName}@${version}`]))
    } catch (error) {
      this.absent.set(name, error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error))
    }
  }

  async #targets(
    accounts: number,
    status: number,
    requests: Partial<Record<PeerName, (url: string) => string>>,
  ): Promise<PeerTargets> {
    const targets: Record<string, Target> = {}
    const servers: Served[] = []
    for (const peer of this.#there()) {
      const request = requests[peer.name]
      if (!request) continue
      const server = await this.#start(peer, accounts)
      servers.push(server)
      targets[peer.name] = { ...server, requests: [request(server.url)], statuses: [status], isPeer: true }
    }
    const end = async (): Promise<void> => {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
    }
    return { targets, [Symbol.asyncDispose]: end }
  }

  async #start(peer: Peer, accounts: number): Promise<Served> {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const args = peer.args({ port: String(port), spec: this.#spec, database: this.#database(accounts) })
    const program = join(this.installed.get(peer.name)?.folder ?? '', peer.program)
    const process = new ServerProcess({ args: [program, ...args], cwd: this.#folder, quiet: true })
    await process.answers(`${url}${peer.ready.path}`, peer.ready.status)
    return servedAt(process, url)
  }

  /** json-server writes into its file, so each start gets a new one. */
  #database(accounts: number): string {
    mkdirSync(this.#folder, { recursive: true })
    const path = join(this.#folder, `database-${accounts}.json`)
    writeFileSync(path, JSON.stringify({ connected_accounts: accountRecords(accounts) }))
    return path
  }
}
