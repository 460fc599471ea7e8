import { z } from 'zod'

const texts = z.array(z.string()).readonly()

/** How the cases of `run --cases` ended: `cases` of its JSON report. */
export const caseResultsSchema = z
  .array(
    z.object({
      name: z.string(),
      file: z.string(),
      line: z.int(),
      ok: z.boolean(),
      /** Each of a kind of reason of the verdict, or of one that only cases have. */
      reasons: z
        .array(z.object({ kind: z.string(), sentence: z.string(), requests: texts, details: texts }))
        .readonly(),
      /** Of its first run. */
      requests: z.int(),
      /** Of all of its runs together, in real time. */
      duration_ms: z.int(),
      /** The SHA-256 of its transcript, equal for equal requests, answers and effects. */
      transcript: z.string(),
    }),
  )
  .readonly()
