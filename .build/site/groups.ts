/** A page of the guides: its file in `docs/`, the title of its links, and the question that it answers. */
export interface Page {
  readonly file: string
  readonly title: string
  readonly question: string
}

export interface Group {
  readonly title: string
  /** What a reader comes for. */
  readonly purpose: string
  readonly pages: readonly Page[]
}

const page = (file: string, title: string, question: string): Page => ({ file, title, question })

/**
 * Every guide, in the one order that the README, `docs/README.md` and the site have. `npm run generate` writes the first two,
 * and `test/recipes/links.test.ts` names a guide that is missing here.
 */
export const GROUPS: readonly Group[] = [
  {
    title: 'Learn',
    purpose: 'two lessons, from the first request to an application of your own',
    pages: [
      page('getting-started.md', 'Getting started', 'How does a user connect an account, and a tool run with it?'),
      page('own-connector.md', 'Your own connector', 'How do I build a fake of the application that I use?'),
    ],
  },
  {
    title: 'How to',
    purpose: 'one task a page',
    pages: [
      page('troubleshooting.md', 'Troubleshooting', 'It does not do what I expect: why, and what do I do?'),
      page(
        'sdk.md',
        'Your client and the mock',
        'How do I point my program at the mock? What replaces stubs of nock, msw, WireMock?',
      ),
      page(
        'test-runners.md',
        'Test runners',
        'How do I give each test a mock of its own, in vitest, Jest, node:test, Playwright, pytest?',
      ),
      page('other-languages.md', 'Other languages', 'How do I use it from Go, Java, Ruby or .NET?'),
      page('ci.md', 'CI', 'How does a CI job run the mock, on GitHub and GitLab too, and what makes it fail?'),
      page(
        'failures.md',
        'Failures and time',
        'How do I make the next call, or one exact request, fail? How does a token expire?',
      ),
      page(
        'containers.md',
        'Containers and teams',
        'How do I run it in a container, with HTTPS, or as one mock for a team?',
      ),
      page('cases.md', 'Cases', 'How do I evaluate an agent so that each run is equal?'),
      page('webhooks.md', 'Webhooks', 'How does my application get events of accounts, and survive forged ones?'),
      page('grpc.md', 'gRPC', 'How does a client that speaks gRPC use the mock?'),
      page('mcp.md', 'MCP', 'How does an agent reach the tools by MCP? How does a coding agent control the mock?'),
      page('dashboard.md', 'Dashboard', 'How do I see in a browser what the mock does, and change it?'),
      page(
        'record.md',
        'The real service',
        'How do I replay what the real service did? Does the mock answer as it does?',
      ),
    ],
  },
  {
    title: 'Reference',
    purpose: 'every operation, error, command, key and call',
    pages: [
      page(
        'glossary.md',
        'Glossary',
        'What do environment, connection, connector, provider, locator, scenario and verdict mean?',
      ),
      page('api/README.md', 'API', 'What does each operation take and answer, and how does it fail?'),
      page('errors.md', 'Errors', 'Which error is this, what causes it, and what do I do?'),
      page('commands.md', 'Commands and flags', 'Which commands, flags and variables are there?'),
      page('file-reference.md', 'Files', 'Which keys do connector, seed, scenario and extension files have?'),
      page('scenarios.md', 'Scenarios', 'What can a scenario do, when, and where? How do I test a race?'),
      page(
        'connectors.md',
        'Connectors',
        'What can the application of a connector do? How do I answer what the mock does not serve?',
      ),
      page('control-api.md', 'Control API', 'How do I control the mock by HTTP, from any language?'),
      page('library.md', 'Library', 'How do I start and control the mock from JavaScript or TypeScript?'),
      page(
        'reports.md',
        'Reports and verdicts',
        'Does my program use the service wrongly? What is a violation, and what a warning?',
      ),
    ],
  },
  {
    title: 'Background',
    purpose: 'how it works, and how far to trust it',
    pages: [
      page(
        'accounts.md',
        'Accounts and consent',
        'Which states does an account have? How does a test give, deny or mistake consent?',
      ),
      page('state.md', 'State files', 'What is kept, and what survives a restart or a crash?'),
      page('limits.md', 'Limits', 'On which systems does it run, and what is the mock not?'),
      page(
        'supported.md',
        'What is supported',
        'Which operations, states, errors, limits, connectors and scenarios are there?',
      ),
    ],
  },
  {
    title: 'About the project',
    purpose: 'what it is measured against, and how to check a release',
    pages: [
      page('fidelity.md', 'Fidelity', 'What comes from the service’s document, and what is a choice?'),
      page('conformance.md', 'Conformance', 'Which checks hold an implementation to the contract?'),
      page('benchmarks.md', 'Benchmarks', 'How fast is it, and how much memory does it use?'),
      page('verify.md', 'Verify a release', 'Is what I got what the repository has?'),
    ],
  },
]

/** Where pages of earlier versions are now, by their former names. */
export const MOVED: Readonly<Record<string, string>> = {
  'bundled-connectors': 'supported#bundled-connectors',
  'coming-from': 'sdk#coming-from-nock-msw-or-wiremock',
  consent: 'accounts#consent',
  github: 'ci#github',
  gitlab: 'ci#gitlab',
  races: 'scenarios#races',
  team: 'containers#a-mock-for-a-team',
  time: 'failures#time',
  drift: 'record#drift',
  extensions: 'connectors#extensions',
  'first-verdict': 'reports#your-first-verdict',
  jest: 'test-runners',
  lifecycle: 'accounts#lifecycle',
  'node-test': 'test-runners',
  parallel: 'test-runners#without-an-adapter',
  playwright: 'test-runners#playwright',
  pytest: 'test-runners#pytest',
  vitest: 'test-runners',
}
