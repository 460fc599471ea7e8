import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ApiError } from './api.ts'
import { Loading } from './layout.tsx'
import type * as Parts from './parts-on-demand.ts'
import { useAction } from './use-api.ts'

const parts = signal<typeof Parts | undefined>(undefined)

/** Shows a part of the dashboard that few visits need; loads these parts before the first one. */
export function OnDemand({ children }: Readonly<{ children: (parts: typeof Parts) => ComponentChildren }>) {
  const { error, run } = useAction()
  useEffect(() => {
    const load = async (): Promise<void> => {
      parts.value = await import('./parts-on-demand.ts').catch(() => {
        throw new ApiError(0, 'The server cannot be reached. Load the page again.')
      })
    }
    if (!parts.value) run(load)
  }, [])
  return <>{parts.value ? children(parts.value) : <Loading error={error} />}</>
}
