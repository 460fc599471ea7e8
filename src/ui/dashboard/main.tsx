import { options, render } from 'preact'
import { withVisibleDirections } from '../../model/domain/text.ts'
import { follow } from './live.ts'
import { startRouting } from './hash-route.ts'
import { startFocusReturn } from './keyboard.ts'
import { Shell } from './shell.tsx'

/** The attributes that are read as text. */
const READ = ['title', 'aria-label', 'data-label', 'label', 'placeholder']

/** A text from outside never turns the direction of what is beside it: all text of the page goes through here. */
options.vnode = (node) => {
  const { type, props } = node as { type: unknown; props: string | Record<string, unknown> }
  if (typeof props === 'string') (node as { props: unknown }).props = withVisibleDirections(props)
  else if (typeof type === 'string')
    for (const name of READ) {
      const text = props[name]
      if (typeof text === 'string') props[name] = withVisibleDirections(text)
    }
}

startRouting()
follow()
startFocusReturn()
const root = document.getElementById('app')
if (root) render(<Shell />, root)
