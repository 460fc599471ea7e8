import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { AbstractStartedContainer, GenericContainer, Wait } from 'testcontainers'

const PORT = 8665

export class ToolmockContainer extends GenericContainer {
  #lists = new Map()
  #copied = 0

  constructor(image) {
    super(image)
    this.withExposedPorts(PORT)
      .withEnvironment({ TOOLMOCK_IN_MEMORY: 'true' })
      // Without the health check of the image, which only some engines have.
      .withWaitStrategy(Wait.forHttp('/_mock/ready', PORT).forStatusCode(200))
  }

  withSeed(nameOrPath) {
    return this.#with('TOOLMOCK_SEED', nameOrPath)
  }

  withScenario(nameOrPath) {
    return this.#with('TOOLMOCK_SCENARIO', nameOrPath)
  }

  withExtension(nameOrPath) {
    return this.#with('TOOLMOCK_EXTENSION', nameOrPath)
  }

  async start() {
    return new StartedToolmockContainer(await super.start(), this.environment.TOOLMOCK_ADMIN_TOKEN)
  }

  /** A variable takes a list. A path is copied into the container; anything else is a name that the mock knows. */
  #with(variable, nameOrPath) {
    const list = this.#lists.get(variable) ?? []
    this.#lists.set(variable, list)
    list.push(/[./\\]/.test(nameOrPath) ? this.#copy(nameOrPath) : nameOrPath)
    return this.withEnvironment({ [variable]: list.join(',') })
  }

  #copy(path) {
    const source = resolve(path)
    const target = `/toolmock/${++this.#copied}/${basename(source)}`
    if (statSync(source).isDirectory()) this.withCopyDirectoriesToContainer([{ source, target }])
    else this.withCopyFilesToContainer([{ source, target, mode: 0o644 }])
    return target
  }
}

export class StartedToolmockContainer extends AbstractStartedContainer {
  #adminToken

  constructor(container, adminToken) {
    super(container)
    this.#adminToken = adminToken
  }

  get url() {
    return `http://${this.getHost()}:${this.getMappedPort(PORT)}`
  }

  get clientId() {
    return 'test_client'
  }

  get clientSecret() {
    return 'test_secret'
  }

  async createEnvironment(label) {
    const answer = await fetch(`${this.url}/_mock/environments`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(this.#adminToken !== undefined && { Authorization: `Bearer ${this.#adminToken}` }),
      },
      body: JSON.stringify(label === undefined ? {} : { label }),
    })
    const made = await answer.json()
    if (!answer.ok)
      throw new Error(`POST ${this.url}/_mock/environments answers ${answer.status}: ${made.error?.message}`)
    return { name: made.name, url: this.url, clientId: made.client_id, clientSecret: made.client_secret }
  }
}
