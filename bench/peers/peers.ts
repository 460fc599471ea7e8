import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type InstalledPackage, installedPackage, installPackage } from '../package-install.ts'
import type { Target } from '../rounds.ts'
import { freePort, ServerProcess } from '../server-process.ts'
import { type Served, servedAt, TOKEN_REQUEST } from '../toolmock.ts'
import { requestText } from '../wire.ts'
import { accountRecords } from './account-records.ts'
import { PEERS, type Peer, type PeerName } from './peer-list.ts'

const API = '/api/v1/connected_accounts'

/**
 * Other mocks with the same work. The benchmark installs them in a folder that stays for the next run. A started peer serves all
 * rows, because some take seconds to start.
 */
export class Peers {
  readonly #folder: string
  readonly #spec: string
  readonly installed = new Map<PeerName, InstalledPackage>()
  /** Why a peer could not be installed. */
  readonly absent = new Map<PeerName, string>()
  /** By name and number of accounts. */
  readonly #running = new Map<string, Served>()

  private constructor(options: { folder: string; spec: string }) {
    this.#folder = options.folder
    this.#spec = options.spec
  }

  /** Installs all peers at once, from npm's cache where possible. */
  static async install(options: { folder: string; spec: string }): Promise<Peers> {
    const peers = new Peers(options)
    const found = await Promise.all(PEERS.map((peer) => peers.#install(peer)))
    // In the order of the list, whichever was installed first.
    for (const [at, { name }] of PEERS.entries()) {
      const peer = found[at] ?? ''
      if (typeof peer === 'string') peers.absent.set(name, peer)
      else peers.installed.set(name, peer)
    }
    return peers
  }

  /** Each start is a new process; the last one keeps running for the other rows. */
  get starters(): { name: string; start: () => Promise<Served> }[] {
    return this.#installedPeers().map((peer) => ({
      name: peer.name,
      start: async () => {
        await this.#end(`${peer.name} 100`)
        return { ...(await this.#serving(peer, 100)), [Symbol.asyncDispose]: () => Promise.resolve() }
      },
    }))
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((key) => this.#end(key)))
  }

  details(headers: Record<string, string>): Promise<Record<string, Target>> {
    const contract = (url: string): string =>
      requestText(`${url}${API}/details?id=ca_00000000000000000001`, { headers })
    return this.#targets(100, 200, {
      'prism-cli': contract,
      'mockoon-cli': contract,
      'json-server': (url) => requestText(`${url}/connected_accounts/ca_1`),
    })
  }

  creates(): Promise<Record<string, Target>> {
    const body = JSON.stringify({ connector: 'mail', identifier: '########@load.example', user_id: 'user_2' })
    const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer token' }
    const contract = (url: string): string => requestText(`${url}${API}`, { method: 'POST', headers, body })
    return this.#targets(100, 201, {
      'prism-cli': contract,
      'mockoon-cli': contract,
      'json-server': (url) => requestText(`${url}/connected_accounts`, { method: 'POST', headers, body }),
    })
  }

  pages(): Promise<Record<string, Target>> {
    return this.#targets(10_000, 200, {
      'json-server': (url) => requestText(`${url}/connected_accounts?_page=1&_limit=10`),
    })
  }

  tokens(): Promise<Record<string, Target>> {
    return this.#targets(100, 200, { 'oauth2-mock-server': (url) => requestText(`${url}/token`, TOKEN_REQUEST) })
  }

  #installedPeers(): readonly Peer[] {
    return PEERS.filter(({ name }) => this.installed.has(name))
  }

  /** The installed package, or why it could not be installed. */
  async #install({ name, packageName, version }: Peer): Promise<InstalledPackage | string> {
    const into = join(this.#folder, `${name}-${version}`)
    try {
      return installedPackage(into, packageName)
    } catch {
      // It is not installed yet, or only in part.
    }
    try {
      return await installPackage(into, packageName, ['--prefer-offline', `${packageName}@${version}`])
    } catch (error) {
      return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
    }
  }

  async #targets(
    accounts: number,
    status: number,
    requests: Partial<Record<PeerName, (url: string) => string>>,
  ): Promise<Record<string, Target>> {
    const targets: Record<string, Target> = {}
    for (const peer of this.#installedPeers()) {
      const request = requests[peer.name]
      if (!request) continue
      const server = await this.#serving(peer, accounts)
      targets[peer.name] = { ...server, requests: [request(server.url)], statuses: [status], isPeer: true }
    }
    return targets
  }

  async #serving(peer: Peer, accounts: number): Promise<Served> {
    const key = `${peer.name} ${accounts}`
    const server = this.#running.get(key) ?? (await this.#start(peer, accounts))
    this.#running.set(key, server)
    return server
  }

  async #end(key: string): Promise<void> {
    const server = this.#running.get(key)
    this.#running.delete(key)
    await server?.[Symbol.asyncDispose]()
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

  /** Writes a new database for each start, because json-server changes it. */
  #database(accounts: number): string {
    mkdirSync(this.#folder, { recursive: true })
    const path = join(this.#folder, `database-${accounts}.json`)
    writeFileSync(path, JSON.stringify({ connected_accounts: accountRecords(accounts) }))
    return path
  }
}
