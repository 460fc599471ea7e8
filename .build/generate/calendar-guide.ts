import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const GUIDE = 'docs/own-connector.md'

const CONNECTOR = 'starter/calendar/seeds/connectors/calendar.yaml'

/** The file in the pieces in which the guide shows it. */
function piecesOf(root: string): string[] {
  const pieces = readFileSync(join(root, CONNECTOR), 'utf8').split(/^(?=(?:collections|responders|rate_limit):)/m)
  return pieces.map((piece) => `\`\`\`yaml\n${piece}\`\`\``)
}

/** The guide to the calendar connector: the file that `toolmock init --connector calendar` writes, part by part. */
export const calendarGuide: Step = {
  name: 'calendar guide',
  inputs: [CONNECTOR],
  outputs: [GUIDE],
  make: (root) => {
    const [tools = '', collection = '', responders = '', limits = ''] = piecesOf(root)
    return markedSection(
      root,
      GUIDE,
      'calendar',
      `**1. Sign-in and tools.** A tool has a schema of its input and the HTTP call that it makes.

${tools}

**2. What it stores.** \`fields\` completes what is created, and \`seed\` is there from the start.

${collection}

**3. What it answers.** An end that is not after the start is refused. An event that overlaps another is a conflict: a 409 that names the other. The list takes a start, a limit and a page token.

${responders}

**4. Limits and errors.** The eleventh call in a minute of the mock's clock is a 429. Every error without an answer of its own has this body.

${limits}`,
    )
  },
}
