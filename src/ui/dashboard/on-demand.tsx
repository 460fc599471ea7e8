import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type * as Parts from './parts-on-demand.ts'
import { ApiError, useAction } from './api.ts'
import { Loading } from './content.tsx'

const parts = signal<typeof Parts | undefined>(undefined)

/** Loads the parts of the dashboard that few visits need. */
export async function loadParts(): Promise<typeof Parts> {
  parts.value ??= await import('./parts-on-demand.ts').catch(() => {
    throw new ApiError(0, 'The server cannot be reached. Load the page again.')
  })
  return parts.value
}

/** Shows one of these parts. */
export function OnDemand({ children }: Readonly<{ children: (parts: typeof Parts) => ComponentChildren }>) {
  const { error, run } = useAction()
  useEffect(() => {
    if (!parts.value) run(loadParts)
  }, [])
  return <>{parts.value ? children(parts.value) : <Loading error={error} />}</>
}
