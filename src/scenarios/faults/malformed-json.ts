import { sendWhole } from '../delivery.ts'
import { defineFault } from './fault.ts'

/** A body of the announced length that no parser takes: the last character of a text is replaced by a comma. */
export const malformedJson = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'The body of the answer is not JSON.',
  example: {},
  sentence: () => 'breaks the body, which is no JSON any more',
  phase: 'delivery',
  deliver: ({ response }, { status, headers, body, malformed }) => {
    const text = body.toString()
    return sendWhole(response, { status, headers, body: malformed ?? (text === '' ? '{' : `${text.slice(0, -1)},`) })
  },
})
