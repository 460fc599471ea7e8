import { render } from 'preact'
import { follow } from './live.ts'
import { followAddress } from './place.ts'
import { Shell } from './shell.tsx'

followAddress()
follow()
const root = document.getElementById('app')
if (root) render(<Shell />, root)
