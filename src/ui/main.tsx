import { render } from 'preact'
import { follow } from './live.ts'
import { startRouting } from './hash-route.ts'
import { onDemand, Shell } from './shell.tsx'

startRouting()
follow()
const root = document.getElementById('app')
if (root) render(<Shell />, root)
// The first view needs no more. The others are loaded ahead, so that they open also once the server is gone.
setTimeout(() => void onDemand().catch(() => undefined), 500)
