import { deliverWhole } from '../delivery.ts'
import type { FaultMaker } from './fault.ts'

/** A body of the announced length that no parser takes: its last character gives way to a comma. */
export const malformedJson: FaultMaker<'malformed_json'> = () => ({
  kind: 'malformed_json',
  sentence: 'spoils the body, which is no JSON any more',
  deliver: (wire, answer) => deliverWhole(wire.response, { ...answer, body: spoiled(answer.body) }),
})

function spoiled(body: string): string {
  return body === '' ? '{' : `${body.slice(0, -1)},`
}
