import { html, type Html } from './html.ts'
import { layout } from './layout.ts'

export interface ConsentPage {
  connectorName: string
  description: string
  /** The application that asks for access. */
  applicationName: string
  /** The account that is being connected. It is preselected: as one of `people`, or as another person. */
  accountIdentifier?: string | undefined
  scopes: readonly string[]
  /** The identities to choose from; the form also takes any other. */
  people: readonly string[]
  action: string
  hidden: Readonly<Record<string, string>>
  facts?: readonly string[] | undefined
  /** The error of the form when it was sent before. */
  problem?: string | undefined
}

/**
 * The third party's consent page (G29): who signs in, what is asked for, approve or deny. The form sends `person` (empty
 * for another person), `somebody_else` and `decision`; {@link consentAnswer} reads it.
 */
export function consentPage(page: ConsentPage): Html {
  const title = `Allow access to ${page.connectorName}?`
  const body = html`
    ${page.description ? html`<p class="quiet">${page.description}</p>` : null}
    <p><strong>${page.applicationName}</strong> asks for access${forAccount(page.accountIdentifier)}.</p>
    ${scopeList(page.scopes)}
    <form method="post" action="${page.action}">
      ${hiddenFields(page.hidden)} ${peopleFields(page)}
      <div class="actions">
        <button class="primary" name="decision" value="approve">Approve</button>
        <button name="decision" value="deny">Deny</button>
      </div>
    </form>
  `
  return layout({ title, body, facts: page.facts })
}

/** Reads a sent consent form. A part that is missing or not a choice is left out. */
export function consentAnswer(form: URLSearchParams): { decision?: 'approve' | 'deny'; person?: string } {
  const decision = form.get('decision')
  const person = form.get('person') || form.get('somebody_else')?.trim()
  return {
    ...(decision === 'approve' || decision === 'deny' ? { decision } : {}),
    ...(person ? { person } : {}),
  }
}

function hiddenFields(hidden: Readonly<Record<string, string>>): Html[] {
  return Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)
}

function forAccount(identifier: string | undefined): Html | null {
  return identifier ? html` on behalf of the account <strong><bdi>${identifier}</bdi></strong>` : null
}

function scopeList(scopes: readonly string[]): Html | null {
  if (scopes.length === 0) return null
  return html`<h2 id="scopes">It will be allowed to use</h2>
    <ul aria-labelledby="scopes">
      ${scopes.map((scope) => html`<li>${scope}</li>`)}
    </ul>`
}

function peopleFields({ people, accountIdentifier = '', problem }: ConsentPage): Html {
  const known = people.includes(accountIdentifier)
  // An identifier that is not one of the people selects none of them.
  const preselected = problem ? undefined : known || accountIdentifier !== '' ? accountIdentifier : people[0]
  const isOther = !people.includes(preselected ?? '')
  const choice = (person: string): Html =>
    html`<label class="choice">
      <input type="radio" name="person" value="${person}" ${person === preselected && html`checked`} />
      <bdi>${person}</bdi>
    </label>`
  return html`<fieldset>
    <legend>Who signs in?</legend>
    ${people.map(choice)}
    <label class="choice">
      <input type="radio" name="person" value="" id="other-person" ${isOther && html`checked`} />
      Another person
    </label>
    <div class="field">
      <label for="other-person-name">Name or e-mail address of the other person</label>
      <input
        id="other-person-name"
        name="somebody_else"
        value="${known ? '' : accountIdentifier}"
        autocomplete="off"
        spellcheck="false"
        ${problem && html`aria-invalid="true" aria-describedby="person-problem" autofocus`}
      />
      ${problem && html`<p class="problem" id="person-problem">${problem}</p>`}
    </div>
  </fieldset>`
}
