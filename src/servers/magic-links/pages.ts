import type { Account } from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import type { Connector } from '../../model/domain/connector.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { SAME_ADDRESS } from '../../ui/pages/credentials-page.ts'
import { html, type Html } from '../../ui/pages/html.ts'
import { layout, noticePage } from '../../ui/pages/layout.ts'
import { RefusedAuthorization } from '../../service/third-party/authorize.ts'
import { LinkProblem, type OpenLink } from './link-validity.ts'

/** The page of a link whose type needs no user (G29). */
export function continuePage(
  {
    connector,
    account,
  }: { connector: Pick<Connector, 'display_name' | 'authorization_type'>; account: Pick<Account, 'identifier'> },
  facts: readonly string[],
): Html {
  const ownTokens = TRAITS[connector.authorization_type].source === 'service'
  const reason = ownTokens
    ? 'The service obtains the access of this account itself.'
    : 'This application can be used without credentials.'
  const body = html`<p>${reason} Nothing has to be entered or allowed for ${account.identifier}.</p>
    <form class="buttons" method="post" action="${SAME_ADDRESS}"><button class="primary">Continue</button></form>`
  return layout({ title: 'No sign-in is needed', overline: connector.display_name, body, facts })
}

/** Also where verify sends the user by default (G31, G33). `open` is the link that this browser followed, if known. */
export function successPage(
  error: string | null,
  open: (Pick<OpenLink, 'account' | 'connector'> & { readonly person?: string | undefined }) | undefined,
  facts: readonly string[],
): Html {
  const what = open && `${open.account.identifier} at ${open.connector.display_name}`
  if (error === null) {
    const signedIn = open?.person ? [`Signed in as ${open.person}.`] : []
    const text = [...(what === undefined ? [] : [`Connected: ${what}.`, ...signedIn]), 'You can close this page now.']
    return noticePage({ title: 'You are connected', text, tone: 'success', facts })
  }
  const subject = what === undefined ? 'Nothing was connected.' : `Not connected: ${what}.`
  const text = `${subject} You can close this page, or follow your link again.`
  return noticePage({ title: 'Access was not granted', text, tone: 'warning', facts })
}

export function methodPage(method: string, allow: string): Html {
  return noticePage({
    title: 'This page cannot do that',
    text: `${method} is not served here; ${allow} is.`,
    tone: 'error',
  })
}

/** Undefined for a defect of the mock. `say` puts the mock's own texts into the words of the environment (G48). */
export function problemPage(
  error: unknown,
  say: (text: string) => string,
  facts: readonly string[],
): { status: number; page: Html } | undefined {
  if (error instanceof LinkProblem) {
    const { title, text, detail, status } = error
    const said = detail === '' ? [] : [`What was found: ${detail}`]
    return {
      status,
      page: noticePage({ title, text: [say(text), ...said], tone: status === 410 ? 'warning' : 'error', facts }),
    }
  }
  if (error instanceof RefusedAuthorization) {
    const title = 'This request cannot be authorized'
    return { status: error.status, page: noticePage({ title, text: error.message, tone: 'error', facts }) }
  }
  if (error instanceof ServiceError) {
    return {
      status: error.status,
      page: noticePage({ title: 'This did not work', text: say(error.message), tone: 'error', facts }),
    }
  }
  return undefined
}
