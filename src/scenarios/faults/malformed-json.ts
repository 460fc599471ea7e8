import { sendWhole } from '../delivery.ts'
import { faultWithoutParameters } from './fault.ts'

/** A body of the announced length that no parser takes: the last character of a text is replaced by a comma. */
export const malformedJson = faultWithoutParameters(
  'The body of the answer is not JSON.',
  'breaks the body, which is no JSON any more',
  {
    phase: 'delivery',
    deliver: ({ response }, wireResponse) => {
      const text = wireResponse.body.toString()
      const body = wireResponse.malformed ?? (text === '' ? '{' : `${text.slice(0, -1)},`)
      return sendWhole(response, { ...wireResponse, body })
    },
  },
)
