import { processContext, runProgram } from '../../src/app/cli/program.ts'

// Like src/app/cli/main.ts, in CommonJS: the script of an executable can be nothing else, so it has no `await` at its top level.
void runProgram(process.argv.slice(2), processContext()).then((code) => {
  process.exitCode ||= code
})
