import type { CommandContext } from './command.ts'
import { controlSession, oneOperand } from './control-session.ts'

/** `explain ID`: why a running server answered a request as it did. */
export async function explain(argv: readonly string[], context: CommandContext): Promise<number> {
  const session = controlSession('explain', argv, context)
  const id = oneOperand('explain', 'ID_OR_RULE', session.operands)
  const answer = await session.call('GET /requests/{id}/explain', { path: { id } })
  session.print(answer, () => answer.text)
  return 0
}
