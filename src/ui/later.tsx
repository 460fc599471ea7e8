import type { ComponentType, JSX } from 'preact'
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { Loading } from './parts.tsx'

/** A component whose script is loaded when the component is first shown, so that the first paint does not wait for it. */
export function later<Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
): (properties: Properties) => JSX.Element {
  const loaded = signal<ComponentType<Properties> | undefined>(undefined)
  return function Later(properties) {
    const { value: Component } = loaded
    const [error, setError] = useState<ApiError | undefined>(undefined)
    useEffect(() => {
      if (loaded.value) return
      load().then(
        (component) => (loaded.value = component),
        () => setError(new ApiError(0, 'The server cannot be reached. Load the page again.')),
      )
    }, [])
    return Component ? <Component {...properties} /> : <Loading error={error} />
  }
}
