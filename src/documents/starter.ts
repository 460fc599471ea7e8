/** A file that `toolmock init` writes, by its path in the folder that it is given. */
export interface StarterFile {
  readonly path: string
  readonly text: string
}

/** Where the seed is, for `--seed`; the layout is that of the package's own `seeds` and `scenarios`. */
export const STARTER_SEED = 'seeds'
export const STARTER_SCENARIO = 'scenarios/bookings-busy.yaml'

const SEED = `# What a new environment starts with. Every key may be left out; npx toolmock validate says what is allowed where.

# API credentials. Without this list there is test_client with test_secret.
# clients:
#   - { client_id: my_app, client_secret: my_secret }
#   - { client_id: 'ci-*', client_secret: ci_secret } # each id of this form gets an environment of its own

settings:
  bearer_token_lifetime: 1h
  magic_link_lifetime: 15m
  consent: ask # approve or deny decide every link at once, without a page

# The files in connectors/ are read with this one. To have the bundled connectors too: --seed bundled --seed FILE
accounts:
  # Connected already, with credentials that its third party accepts.
  - { connector: bookings, identifier: ada@example.com }
  # Connected, until its access token is used the next time: the token is past its end, and there is a refresh.
  - { connector: bookings, identifier: grace@example.com, token_expires_at: '2020-01-01T00:00:00Z' }
  # Waits for its user to give consent.
  - { connector: bookings, identifier: alan@example.com, status: PENDING_AUTH }

# Many more, with invented identifiers:
# generate: { accounts: 500, connector: bookings }
`

const CONNECTOR = `# A third-party application: what it is called, how it is signed in to, its tools, and what it answers.
connector: bookings
display_name: Bookings
description: Rooms and who has booked them.
authorization_type: OAUTH # or API_KEY, BASIC_AUTH, BEARER_TOKEN, CUSTOM, NO_AUTH and six more
oauth:
  scopes: [bookings.read, bookings.write]
  access_token_lifetime: 1h
  refresh_token: rotate # keep: the same one for ever; none: expired is expired
# Who can sign in at the consent page.
people: [ada@example.com, grace@example.com, alan@example.com]

tools:
  - name: bookings_create
    description: Books a room.
    # JSON Schema of tool_input: what does not fit is refused before anything is called.
    input_schema:
      type: object
      required: [room, day]
      properties:
        room: { type: string, description: Name of the room. }
        day: { type: string, format: date, description: The day to book it for. }
    # The call that the tool makes at the third party. Texts are templates over input and account.
    call:
      method: POST
      path: /v1/bookings
      body: { room: '{{input.room}}', day: '{{input.day}}' }
    # What execute_tool answers as data, out of the response; the whole body when left out.
    result: { booking_id: '{{response.body.id}}', room: '{{response.body.room}}' }

# What the third party answers: the first that matches does. A * matches any text.
responders:
  - on: { method: POST, path: /v1/bookings, body: { room: 'closed*' } }
    respond: { status: 422, body: { error: room_closed } }
  - on: { method: POST, path: /v1/bookings }
    respond:
      status: 201
      body:
        id: 'bkg_{{id}}'
        room: '{{request.body.room}}'
        booked_by: '{{account.identifier}}'
        note: "{{faker 'lorem.sentence'}}"
`

const SCENARIO = `# What goes wrong, when, and where. Runs from the start with --scenario FILE.
name: bookings-busy
description: The second booking is answered with 429; the third one succeeds.
rules:
  - name: rate limit
    at: third_party # service, third_party, token_refresh or consent
    on: { connector: bookings, method: POST, path: /v1/bookings }
    when: { nth: 2 } # or first, every, after and times, probability, from and until, state
    do:
      - respond: { status: 429, headers: { Retry-After: '30' }, body: { error: busy } }
    # A rule that never fires fails the verdict, because then a test did not test what it says.
    must_fire: true
`

/** A seed, a connector and a scenario to begin with, which work together as they are. */
export const STARTER: readonly StarterFile[] = [
  { path: `${STARTER_SEED}/default.yaml`, text: SEED },
  { path: `${STARTER_SEED}/connectors/bookings.yaml`, text: CONNECTOR },
  { path: STARTER_SCENARIO, text: SCENARIO },
]

/** The worked example of `docs/connectors.md`, in the pieces in which the guide shows it. */
export const CALENDAR_PARTS = [
  `connector: calendar
display_name: Calendar
authorization_type: NO_AUTH
tools:
  - name: calendar_create_event
    description: Puts an event into the calendar.
    input_schema:
      type: object
      required: [title, start, end]
      properties:
        title: { type: string, description: What it is about. }
        start: { type: string, format: date-time, description: When it begins. }
        end: { type: string, format: date-time, description: When it ends. }
    call:
      method: POST
      path: /v1/events
      body: { title: '{{input.title}}', start: '{{input.start}}', end: '{{input.end}}' }
  - name: calendar_list_events
    description: Lists events by their start.
    input_schema:
      type: object
      properties:
        from: { type: string, format: date-time, description: Only events that begin then or later. }
        limit: { type: integer, minimum: 1, description: How many at most. }
        page_token: { type: string, description: next_page_token of the page before. }
    call:
      method: GET
      path: /v1/events
      query: { from: '{{input.from}}', limit: '{{input.limit}}', page_token: '{{input.page_token}}' }
`,
  `collections:
  events:
    fields:
      id: 'evt_{{id}}'
      title: Untitled
      start: '{{now}}'
      end: "{{now '1h'}}"
      created_at: '{{now}}'
    seed:
      - { id: evt_standup, title: Stand-up, start: "{{date '1d'}}T09:00:00Z", end: "{{date '1d'}}T09:15:00Z" }
`,
  `responders:
  - on: { method: POST, path: /v1/events }
    steps:
      - refuse: { request.body.end: { lte: '{{request.body.start}}' } }
        otherwise: { status: 400, body: { error: { code: bad_time, message: end must be after start } } }
      - create: events
        unless:
          start: { lt: '{{request.body.end}}' }
          end: { gt: '{{request.body.start}}' }
        otherwise:
          status: 409
          body: { error: { code: conflict, message: '{{existing.title}} is then', event_id: '{{existing.id}}' } }
  - on: { method: GET, path: /v1/events }
    steps:
      - list: events
        where: { start: { gte: '{{request.query.from}}' } }
        sort: start
        page: { limit: '{{request.query.limit}}', token: '{{request.query.page_token}}' }
    respond: { body: { events: '{{items}}', next_page_token: '{{page.next}}' } }
`,
  `rate_limit: { calls: 10, every: 1m }
error_body: { error: { code: '{{error.code}}', message: '{{error.message}}' } }
`,
] as const

const CALENDAR_SEED = `# An account at the calendar, ready to be used.
accounts:
  - { connector: calendar, identifier: ada@example.com }
`

/** Connectors that `toolmock init --connector NAME` writes, each with a seed. */
export const EXAMPLE_CONNECTORS: Readonly<Record<'calendar', readonly StarterFile[]>> = {
  calendar: [
    { path: `${STARTER_SEED}/default.yaml`, text: CALENDAR_SEED },
    { path: `${STARTER_SEED}/connectors/calendar.yaml`, text: CALENDAR_PARTS.join('') },
  ],
}
