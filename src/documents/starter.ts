/** A file that `toolmock init` writes, by its path in the folder that it is given. */
export interface StarterFile {
  readonly path: string
  readonly text: string
}

/** Where the seed is, for `--seed`; the layout is that of the package's own `seeds` and `scenarios`. */
export const STARTER_SEED = 'seeds'
export const STARTER_SCENARIO = 'scenarios/bookings-busy.yaml'

const SEED = `# What a new environment starts with. Every key may be left out; toolmock validate says what may stand where.

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

# What the third party answers: the first that matches does. A * stands for any text.
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
description: The second booking is told to come back later; the third goes through.
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
