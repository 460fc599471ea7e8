import { quote } from '../../domain/text.ts'
import { nearest } from '../../domain/suggestion.ts'
import { didYouMean } from '../did-you-mean.ts'
import { type Case, type Explainer, type Finding, sentText } from './case.ts'

/** A check of the request's form; the answer's own words say what was found. */
export function formCheck(basis: string, because: string, ...advice: string[]): Explainer {
  return ({ message, entry }) => ({
    because,
    basis,
    facts: entry.violations.length > 0 ? entry.violations.map(violation) : message === '' ? [] : [message],
    advice,
  })
}

function violation({ field, description }: { field: string; description: string }): string {
  return `${field}: ${description}`
}

export const validationFailed: Explainer = formCheck(
  '7.2, G52',
  'The request does not fit the contract of the operation (spec/openapi.yaml).',
  'Send the fields as the facts say; the operation in spec/openapi.yaml shows all of them.',
)

export function pathNotFound({ entry }: Case): Finding {
  const meant = didYouMean(entry)
  return {
    because: `${entry.method} ${quote(entry.url.split('?', 1).join())} is no path of the service.`,
    basis: 'G8',
    facts: [],
    advice: meant === null ? ['Compare the path with spec/openapi.yaml.'] : [`Did you mean ${meant}?`],
  }
}

export function methodNotAllowed({ entry, message }: Case): Finding {
  return {
    because: `The path is served, but not with ${entry.method}.`,
    basis: 'G8',
    facts: message === '' ? [] : [message],
    advice: [`Use ${didYouMean(entry) ?? 'a method that the header Allow names'}.`],
  }
}

export function invalidConnector({ entry, environment }: Case): Finding {
  const sent = sentText(entry, 'connector') ?? ''
  const known = [...(environment?.model.tables.connections.values() ?? [])].map(({ key_id }) => key_id)
  const meant = nearest(sent, known)
  return {
    because: `No connection of environment ${quote(entry.environment)} has the key_id ${quote(sent)}.`,
    basis: '4.6, G19',
    facts: [`Its connectors: ${known.slice(0, 40).join(', ') || 'none'}.`],
    advice: [
      ...(meant === undefined ? [] : [`Did you mean ${quote(meant)}?`]),
      'Use one of these, create a custom provider, or add a connector file (PUT /_mock/connectors/{name}).',
    ],
  }
}

export function providerNotFound({ message, environment }: Case): Finding {
  const known = [...(environment?.model.tables.providers.values() ?? [])].filter(({ is_custom }) => is_custom)
  return {
    because: message === '' ? 'There is no custom provider with that identifier.' : `${message}.`,
    basis: '4.12, 4.13, G40',
    facts: [`Custom providers now: ${known.map(({ identifier }) => identifier).join(', ') || 'none'}.`],
    advice: ['Use the identifier that creating the provider answered; deleting one is permanent.'],
  }
}
