import type { Answer } from './answer.ts'

/** Whoever knows the shapes that the contract declares. */
export interface Judge {
  /** The operation that is called by a method and a path; undefined when none is. */
  operationOf(method: string, path: string): string | undefined
  /** What is wrong with an answer of an operation, one sentence for each thing. */
  problems(operation: string, answer: Answer): readonly string[]
}

/** How many answers of an operation are judged. */
const MOST_ANSWERS = 500

/** Every answer of the run so far, by operation, to be judged in the end. */
export class Observed {
  readonly judge: Judge
  readonly #answers = new Map<string, Answer[]>()

  constructor(judge: Judge) {
    this.judge = judge
  }

  note(method: string, path: string, answer: Answer): void {
    const operation = this.judge.operationOf(method, path)
    if (operation === undefined) return
    const answers = this.#answers.get(operation)
    if (!answers) this.#answers.set(operation, [answer])
    else if (answers.length < MOST_ANSWERS) answers.push(answer)
  }

  of(operation: string): readonly Answer[] {
    return this.#answers.get(operation) ?? []
  }
}
