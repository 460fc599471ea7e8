import { type Answer, must } from './answer.ts'
import { textOf } from '../domain/json.ts'

/** Every page of a list, first to last, by its page tokens. @throws Broken for a list without an end */
export async function everyPage(ask: (page_token: string | undefined) => Promise<Answer>): Promise<Answer[]> {
  const pages: Answer[] = []
  let token: string | undefined
  let next: string | undefined
  do {
    token = next
    const answer = await ask(token)
    pages.push(answer)
    next = textOf(answer.at('next_page_token')) || undefined
  } while (next !== undefined && next !== token && pages.length < 1000)
  must(next === undefined, 'a last page', `${pages.length} pages and no end`)
  return pages
}
