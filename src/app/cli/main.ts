#!/usr/bin/env node
import module from 'node:module'

// Before anything else is loaded: from Node 22.8 on, compiled code is kept between starts. `run` leaves no files behind.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
if (process.argv[2] !== 'run') enableCompileCache?.()

const { processContext, runProgram: program } = await import('./program.ts')

const code = await program(process.argv.slice(2), processContext())
// Output that could not be written has set another code already.
process.exitCode ||= code
