import { CALENDAR_PARTS } from '../../src/documents/starter.ts'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const GUIDE = 'docs/connectors.md'

const [TOOLS, COLLECTION, RESPONDERS, LIMITS] = CALENDAR_PARTS.map((part) => `\`\`\`yaml\n${part}\`\`\``)

/** The guide to the calendar connector: the file that `toolmock init --connector calendar` writes, part by part. */
export const calendarGuide: Step = {
  name: 'calendar guide',
  inputs: ['src/documents/starter.ts'],
  outputs: [GUIDE],
  make: (root) =>
    markedSection(
      root,
      GUIDE,
      'calendar',
      `**1. Sign-in and tools.** A tool has a schema of its input and the HTTP call that it makes.

${TOOLS ?? ''}

**2. What it stores.** \`fields\` completes what is created, and \`seed\` is there from the start.

${COLLECTION ?? ''}

**3. What it answers.** An end that is not after the start is refused. An event that overlaps another is a conflict: a 409 that names the other. The list takes a start, a limit and a page token.

${RESPONDERS ?? ''}

**4. Limits and errors.** The eleventh call in a minute of the mock's clock is a 429. Every error without an answer of its own has this body.

${LIMITS ?? ''}`,
    ),
}
