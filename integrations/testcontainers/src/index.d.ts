import { AbstractStartedContainer, GenericContainer } from 'testcontainers'

/** What the program under test needs to reach a mock. */
export interface Connection {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
}

/** An environment: accounts, clock, scenarios and request journal of its own, on the same server. */
export interface Environment extends Connection {
  readonly name: string
}

/** toolmock as a container. It is ready when `start()` has ended, and keeps nothing after `stop()`. */
export declare class ToolmockContainer extends GenericContainer {
  /** @param image the image that your team built, such as `registry.example/your-team/toolmock:0.1.0` */
  constructor(image: string)
  /** Adds a seed: `bundled`, or a file or folder of this machine. May be called several times, as the next two. */
  withSeed(nameOrPath: string): this
  /** Adds a scenario that runs from the start: the name of a bundled one, or a file. */
  withScenario(nameOrPath: string): this
  /** Adds an extension: the name of a bundled one, or a file. */
  withExtension(nameOrPath: string): this
  override start(): Promise<StartedToolmockContainer>
}

export declare class StartedToolmockContainer extends AbstractStartedContainer implements Connection {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /**
   * Creates an environment with credentials of its own, for one test.
   * @param label the test, which reports then name
   * @throws Error with the message of the server when it refuses
   */
  createEnvironment(label?: string): Promise<Environment>
}
