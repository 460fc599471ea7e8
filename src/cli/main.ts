#!/usr/bin/env node
import module from 'node:module'

// Before anything else is loaded: from Node 22.8 on, compiled code is kept between starts. `run` leaves nothing behind.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
if (process.argv[2] !== 'run') enableCompileCache?.()

const { program } = await import('./program.ts')
const { processSurroundings } = await import('./surroundings.ts')

process.exitCode = await program(process.argv.slice(2), processSurroundings())
