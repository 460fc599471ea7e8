import { render } from 'preact'
import { follow } from './live.ts'
import { startRouting } from './hash-route.ts'
import { Shell } from './shell.tsx'

startRouting()
follow()
const root = document.getElementById('app')
if (root) render(<Shell />, root)
