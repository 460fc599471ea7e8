import type { Connector } from '../../model/domain/connector.ts'
import { html, type Html } from './html.ts'
import { layout } from './layout.ts'

export interface ConsentPage {
  /** `people` are the identities to choose from; the form also takes any other. */
  connector: Pick<Connector, 'display_name' | 'description' | 'people'>
  scopes: readonly string[]
  /**
   * Of the authorization request; the form sends them back. `client_id` is the application that asks for access, `login_hint`
   * the account that is being connected: where it is not one of the people, it is offered as another person.
   */
  parameters: Readonly<Record<string, string>>
  facts?: readonly string[] | undefined
  /** Those whose boxes are ticked; all of them when absent. */
  granted?: readonly string[] | undefined
  /** The error of the form when it was sent before, and whether it is about the scopes. */
  problem?: string | undefined
  isOfScopes?: boolean | undefined
}

/** G29. The form sends `person` (empty for another one), `somebody_else`, `granted` for each scope and `decision`. */
export function consentPage(page: ConsentPage): Html {
  const { connector, parameters } = page
  const title = `Allow access to ${connector.display_name}?`
  // The action is relative, so that it is right below the path of a proxy too.
  const body = html`
    ${connector.description ? html`<p class="quiet">${connector.description}</p>` : null}
    <p><strong>${parameters['client_id']}</strong> asks for access${forAccount(parameters['login_hint'])}.</p>
    <form method="post" action="authorize">
      ${hiddenFields(parameters)} ${scopeBoxes(page)} ${peopleFields(page)}
      <div class="buttons">
        <button class="primary" name="decision" value="approve">Approve</button>
        <button name="decision" value="deny">Deny</button>
      </div>
    </form>
  `
  return layout({ title, body, facts: page.facts })
}

/** Reads a sent consent form. A part that is missing or not a choice is left out: without boxes no scope was chosen. */
export function consentDecision(form: URLSearchParams): {
  decision?: 'approve' | 'deny'
  person?: string
  granted?: readonly string[]
} {
  const decision = form.get('decision')
  const person = form.get('person') || form.get('somebody_else')?.trim()
  return {
    ...(decision === 'approve' || decision === 'deny' ? { decision } : {}),
    ...(person ? { person } : {}),
    ...(form.has('granted') ? { granted: form.getAll('granted') } : {}),
  }
}

function hiddenFields(hidden: Readonly<Record<string, string>>): Html[] {
  return Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)
}

function forAccount(identifier: string | undefined): Html | null {
  return identifier ? html` on behalf of the account <strong><bdi>${identifier}</bdi></strong>` : null
}

/** A hidden field says that there were boxes, also when none is ticked. */
function scopeBoxes({ scopes, granted = scopes, problem, isOfScopes = false }: ConsentPage): Html | null {
  if (scopes.length === 0) return null
  const box = (scope: string): Html =>
    html`<label class="card row">
      <input type="checkbox" name="granted" value="${scope}" ${granted.includes(scope) && html`checked`} />
      <span>${scopeWords(scope)} <code>${scope}</code></span>
    </label>`
  return html`<fieldset ${isOfScopes && html`aria-describedby="scopes-problem"`}>
    <legend>It will be allowed to</legend>
    <input type="hidden" name="granted" value="" />
    ${scopes.map(box)} ${isOfScopes && html`<p class="problem" id="scopes-problem">${problem}</p>`}
  </fieldset>`
}

const VERBS: Readonly<Record<string, string>> = {
  read: 'Read',
  readonly: 'Read',
  write: 'Read and change',
  readwrite: 'Read and change',
  modify: 'Change',
  send: 'Send',
  create: 'Create',
  delete: 'Delete',
  admin: 'Administer',
  manage: 'Manage',
}

const WHOLE_SCOPES: Readonly<Record<string, string>> = {
  offline_access: 'Keep access while you are away',
  openid: 'Know who you are',
  profile: 'Read your profile',
  email: 'Read your e-mail address',
}

/** `calendar.write` is "Read and change calendar"; others are `verb:thing` or an address, or something to use. */
export function scopeWords(scope: string): string {
  const whole = ownProperty(WHOLE_SCOPES, scope)
  if (whole !== undefined) return whole
  const parts = scope.split(/[^\p{L}\p{N}_-]+/u).filter(Boolean)
  const at = parts.findLastIndex((part) => Object.hasOwn(VERBS, part.toLowerCase()))
  const verb = at < 0 ? 'Use' : (ownProperty(VERBS, (parts[at] ?? '').toLowerCase()) ?? 'Use')
  const thing = (at > 0 ? parts[at - 1] : at < 0 ? parts.at(-1) : parts[1]) ?? 'everything'
  return `${verb} ${thing.replaceAll(/[_-]+/g, ' ')}`
}

function ownProperty(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined
}

/** Who signs in where nobody is named: the account's own identifier where it is one of the people, else the first of them. */
export function defaultPerson(people: readonly string[], accountIdentifier: string): string {
  return people.includes(accountIdentifier) ? accountIdentifier : (people[0] ?? accountIdentifier)
}

function peopleFields({ connector: { people }, parameters, isOfScopes, ...page }: ConsentPage): Html {
  const problem = isOfScopes ? undefined : page.problem
  const accountIdentifier = parameters['login_hint'] ?? ''
  const isListed = people.includes(accountIdentifier)
  const preselected = problem ? undefined : defaultPerson(people, accountIdentifier)
  const isOther = !people.includes(preselected ?? '')
  const choice = (person: string): Html =>
    html`<label class="card row">
      <input type="radio" name="person" value="${person}" ${person === preselected && html`checked`} />
      <bdi>${person}</bdi>
    </label>`
  return html`<fieldset>
    <legend>Who signs in?</legend>
    ${people.map(choice)}
    <label class="card row">
      <input type="radio" name="person" value="" id="other-person" ${isOther && html`checked`} />
      Another person
    </label>
    <div class="field">
      <label for="other-person-name">Name or e-mail address of the other person</label>
      <input
        id="other-person-name"
        name="somebody_else"
        value="${isListed ? '' : accountIdentifier}"
        autocomplete="off"
        spellcheck="false"
        ${problem && html`aria-invalid="true" aria-describedby="person-problem" autofocus`}
      />
      ${problem && html`<p class="problem" id="person-problem">${problem}</p>`}
    </div>
  </fieldset>`
}
