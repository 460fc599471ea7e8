import type { SeedBundle } from '../../src/model/domain/seed.ts'
import type { AuthorizationTraits } from '../../src/model/domain/authorization-type.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const PAGE = 'docs/bundled-connectors.md'

const SOURCES: Readonly<Record<AuthorizationTraits['source'], string>> = {
  consent: 'consent at the third party, in a browser or without one',
  form: "the form that a magic link opens, or your server's create and update",
  service: 'the service itself, before create answers',
  none: 'nowhere: it needs none',
}

/** The table of the bundled connectors and the list of their tools, made from their files. */
export const connectorsTable: Step = {
  name: 'connectors table',
  inputs: ['seeds', 'seeds/connectors', 'src/model/domain/authorization-type.ts'],
  outputs: [PAGE],
  make: async (root) => {
    const { bundledSeed } = await import('../bundled-seed.ts')
    const { TRAITS } = await import('../../src/model/domain/authorization-type.ts')
    const { connectors } = JSON.parse(await bundledSeed()) as SeedBundle
    const rows = connectors.map(
      ({ authorization_type: type, connector }) =>
        `| \`${type}\` | \`${connector}\` | ${SOURCES[TRAITS[type].source]} |`,
    )
    const tools = connectors.map(
      (each) => `- \`${each.connector}\`: ${each.tools.map(({ name }) => `\`${name}\``).join(', ')}`,
    )
    const table = ['| type | connector | credentials come from |', '| --- | --- | --- |', ...rows].join('\n')
    return markedSection(root, PAGE, 'connectors', `${table}\n\nTheir tools:\n\n${tools.join('\n')}`)
  },
}
