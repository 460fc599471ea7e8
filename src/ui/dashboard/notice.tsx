import { signal } from '@preact/signals'
import { SmallButton } from './controls.tsx'

/** What has happened and can be undone, or waits for a decision. It stays until it is answered, or another takes its place. */
export const notice = signal<
  | {
      readonly text: string
      readonly actions: readonly (readonly [label: string, act: () => void])[]
    }
  | undefined
>(undefined)

export function Notice() {
  const currentNotice = notice.value
  const close = (): void => {
    notice.value = undefined
  }
  return (
    <div class={`row wrap message ${currentNotice ? 'card' : ''}`} role="status">
      {currentNotice && (
        <>
          <span>{currentNotice.text}</span>
          {currentNotice.actions.map(([label, act]) => (
            <SmallButton
              key={label}
              label={label}
              onClick={() => {
                close()
                act()
              }}
            />
          ))}
          <SmallButton label="✕" aria-label="Close the message" onClick={close} />
        </>
      )}
    </div>
  )
}
