import { render } from 'preact'
import { follow } from './live.ts'
import { startRouting } from './hash-route.ts'
import { startFocusReturn } from './keyboard.ts'
import { Shell } from './shell.tsx'

startRouting()
follow()
startFocusReturn()
const root = document.getElementById('app')
if (root) render(<Shell />, root)
