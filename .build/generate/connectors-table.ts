import type { AuthorizationTraits } from '../../src/domain/authorization-type.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const ACCOUNTS_GUIDE = 'docs/accounts.md'

const SOURCES: Readonly<Record<AuthorizationTraits['source'], string>> = {
  consent: 'consent at the third party, in a browser or without one',
  form: "the form that a magic link opens, or your server's create and update",
  service: 'the service itself, before create answers',
  none: 'nowhere: it needs none',
}

/** The table of the bundled connectors, out of its files. */
export const connectorsTable: Step = {
  name: 'connectors table',
  inputs: ['seeds', 'seeds/connectors', 'src/domain/authorization-type.ts'],
  outputs: [ACCOUNTS_GUIDE],
  make: async (root) => {
    const { bundledSeed } = await import('../bundled-seed.ts')
    const { parseBundle } = await import('../../src/documents/bundle.ts')
    const { TRAITS } = await import('../../src/domain/authorization-type.ts')
    const rows = parseBundle(await bundledSeed()).connectors.map(
      ({ authorization_type: type, connector, tools }) =>
        `| \`${type}\` | \`${connector}\` | ${SOURCES[TRAITS[type].source]} | ${tools.map(({ name }) => `\`${name}\``).join(', ')} |`,
    )
    const head = ['| type | connector | credentials come from | tools |', '| --- | --- | --- | --- |']
    return markedSection(root, ACCOUNTS_GUIDE, 'connectors', [...head, ...rows].join('\n'))
  },
}
