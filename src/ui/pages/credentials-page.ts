import type { Account } from '../../model/domain/account.ts'
import type { Connector, CredentialField } from '../../model/domain/connector.ts'
import { html, type Html } from './html.ts'
import { layout } from './layout.ts'

/** Longest value of one field in characters; keys and certificates that people paste into forms are shorter. */
export const MAX_VALUE = 8192

export interface FilledForm {
  /** What was entered, by field name; nothing for optional fields left empty. */
  values: Map<string, string>
  /** What is wrong with it, by field name. */
  problems: Map<string, string>
}

/** Reads the fields that the connector asks for from a sent form, and no others. */
export function readCredentials(fields: readonly CredentialField[], form: URLSearchParams): FilledForm {
  const values = new Map<string, string>()
  const problems = new Map<string, string>()
  for (const field of fields) {
    const value = form.get(field.name) ?? ''
    const problem = problemOf(field, value)
    if (problem) problems.set(field.name, problem)
    if (value !== '') values.set(field.name, value)
  }
  return { values, problems }
}

function problemOf(field: CredentialField, value: string): string | undefined {
  if (field.required && value.trim() === '') return `${field.label} is missing.`
  if (value.length > MAX_VALUE) {
    return `${field.label} has ${value.length} characters; ${MAX_VALUE} are the most.`
  }
  return undefined
}

/** A form is sent to the address of its page, also behind a proxy that serves the mock below a path. */
export const SAME_ADDRESS = '?'

/** G29; each input has the name of its field. `filled` is what was entered before; secrets are never shown again. */
export function credentialsPage(
  {
    connector,
    account,
  }: {
    connector: Pick<Connector, 'display_name' | 'description' | 'credentials'>
    account: Pick<Account, 'identifier'>
  },
  facts: readonly string[],
  { values, problems }: FilledForm = { values: new Map(), problems: new Map() },
): Html {
  const { fields } = connector.credentials
  const firstProblem = fields.find((field) => problems.has(field.name))
  const inputs = fields.map((field, at) =>
    input(`field-${at}`, field, {
      value: field.secret ? '' : (values.get(field.name) ?? ''),
      problem: problems.get(field.name),
      focus: field === (firstProblem ?? fields[0]),
    }),
  )
  const body = html`
    ${connector.description ? html`<p class="quiet">${connector.description}</p>` : null}
    <p>
      Enter the credentials of this account: <strong><bdi>${account.identifier}</bdi></strong>
    </p>
    <form method="post" action="${SAME_ADDRESS}" novalidate>
      ${firstProblem && html`<p class="problem" role="alert">${NOT_SAVED}</p>`} ${inputs}
      <div class="buttons">
        <button class="primary">Connect</button>
        <button formaction="?decision=deny">Cancel</button>
      </div>
    </form>
  `
  const title = `Connect ${connector.display_name}`
  return layout({ title: firstProblem ? `${title}: please check` : title, body, facts })
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
