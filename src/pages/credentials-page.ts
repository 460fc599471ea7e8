import type { CredentialField } from '../domain/connector.ts'
import { html, type Html } from './html.ts'
import { layout } from './layout.ts'

export interface CredentialsPage {
  connectorName: string
  description: string
  accountIdentifier: string
  fields: readonly CredentialField[]
  facts?: readonly string[] | undefined
  action: string
  cancelAction: string
  /** The values entered before, by field name; secrets are never shown again. */
  values?: ReadonlyMap<string, string>
  problems?: ReadonlyMap<string, string>
}

/** The form for static credentials (G29); each input has the name of its field. */
export function credentialsPage(page: CredentialsPage): Html {
  const problems = page.problems ?? new Map<string, string>()
  const firstProblem = page.fields.find((field) => problems.has(field.name))
  const inputs = page.fields.map((field, at) =>
    input(`field-${at}`, field, {
      value: field.secret ? '' : (page.values?.get(field.name) ?? ''),
      problem: problems.get(field.name),
      focus: field === (firstProblem ?? page.fields[0]),
    }),
  )
  const body = html`
    ${page.description ? html`<p class="quiet">${page.description}</p>` : null}
    <p>
      Enter the credentials of this account: <strong><bdi>${page.accountIdentifier}</bdi></strong>
    </p>
    <form method="post" action="${page.action}" novalidate>
      ${firstProblem && html`<p class="problem" role="alert">${NOT_SAVED}</p>`} ${inputs}
      <div class="buttons">
        <button class="primary">Connect</button>
        <button formaction="${page.cancelAction}">Cancel</button>
      </div>
    </form>
  `
  const title = `Connect ${page.connectorName}`
  return layout({ title: firstProblem ? `${title}: please check` : title, body, facts: page.facts })
}

const NOT_SAVED = 'Nothing was saved. Correct the marked fields, and enter secrets again.'

interface InputState {
  value: string
  problem: string | undefined
  focus: boolean
}

function input(id: string, field: CredentialField, { value, problem, focus }: InputState): Html {
  const described = [field.hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return html`<div class="field">
    <label for="${id}">${field.label}${!field.required && html` <span class="quiet">(optional)</span>`}</label>
    <input
      id="${id}"
      name="${field.name}"
      type="${field.secret ? 'password' : 'text'}"
      value="${value}"
      autocomplete="off"
      spellcheck="false"
      ${field.required && html`required`}
      ${focus && html`autofocus`}
      ${problem && html`aria-invalid="true"`}
      ${described && html`aria-describedby="${described}"`}
    />
    ${field.hint && html`<p class="quiet" id="${id}-hint">${field.hint}</p>`}
    ${problem && html`<p class="problem" id="${id}-problem">${problem}</p>`}
  </div>`
}
