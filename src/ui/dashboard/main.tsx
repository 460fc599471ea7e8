import { options, render } from 'preact'
import { withVisibleDirections } from '../../model/domain/text.ts'
import { follow } from './live.ts'
import { startRouting } from './hash-route.ts'
import { startFocusReturn } from './keyboard.ts'
import { Shell } from './shell.tsx'

/** A text from outside never turns the direction of what is beside it: all text of the page goes through here. */
options.vnode = (node: { props: unknown }) => {
  if (typeof node.props === 'string') node.props = withVisibleDirections(node.props)
}

startRouting()
follow()
startFocusReturn()
const root = document.getElementById('app')
if (root) render(<Shell />, root)
