/*
 * Cross-origin requests that a page can send to the mock. All of it is source text that runs in the page: the tests have
 * no types of the DOM.
 */

/** One request of a page. */
export interface Attempt {
  readonly method: string
  readonly path: string
  readonly body?: string
}

/** Calls without a body need no preflight. The calls that read come first, before the others delete the data. */
export const ATTEMPTS: readonly Attempt[] = [
  { method: 'GET', path: '/state' },
  { method: 'GET', path: '/env' },
  { method: 'GET', path: '/requests' },
  { method: 'POST', path: '/reset' },
  { method: 'POST', path: '/environments', body: '{"name":"theirs"}' },
  { method: 'POST', path: '/seed', body: '{"accounts":[{"connector":"mail","identifier":"eve@example.com"}]}' },
  { method: 'PUT', path: '/clock', body: '{"advance":"2h"}' },
  { method: 'PUT', path: '/snapshots/theirs' },
  { method: 'POST', path: '/scenarios/rate-limited/start' },
  { method: 'DELETE', path: '/requests' },
  { method: 'DELETE', path: '/scenarios' },
]

/** Fetches as a script does; returns status and body where the page can read them, else the error. */
export function fetching(base: string, attempts: readonly Attempt[], options: object = {}): string {
  return `Promise.all(${JSON.stringify(attempts)}.map(async ({ method, path, body }) => {
    const options = { method, body, ...${JSON.stringify(options)} }
    try {
      const response = await fetch(${JSON.stringify(base)} + path, options)
      return [response.type, response.status, await response.text()].join(' ').trim()
    } catch (error) {
      return error.name
    }
  }))`
}

/** Sends beacons of each type that a page may set; returns how many were sent. */
export function beacons(base: string, attempts: readonly Attempt[]): string {
  return `${JSON.stringify(attempts)}.flatMap(({ path, body = '' }) =>
    ['text/plain', 'application/x-www-form-urlencoded', 'application/json'].map((type) =>
      navigator.sendBeacon(${JSON.stringify(base)} + path, new Blob([body], { type })))).filter(Boolean).length`
}

/**
 * Forms of each encoding, sent into frames: empty ones where no body is needed, else with a field whose name makes the
 * text/plain form JSON. Resolves when every frame has its answer.
 */
export function forms(base: string, attempts: readonly Attempt[]): string {
  return `Promise.all(${JSON.stringify(attempts)}.flatMap(({ path, body }) =>
    ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'].map((enctype, index) =>
      new Promise((resolve) => {
        const frame = document.createElement('iframe')
        frame.name = path + index
        const form = document.createElement('form')
        Object.assign(form, { action: ${JSON.stringify(base)} + path, method: 'post', enctype, target: frame.name })
        if (body) {
          const [name, value] = [body.slice(0, -1) + ',"x":"', '"}']
          form.append(Object.assign(document.createElement('input'), { name, value }))
        }
        document.body.append(frame, form)
        frame.onload = () => resolve(readable(frame))
        form.submit()
      })))).then((texts) => texts.filter((text) => text !== ''))
  function readable(frame) {
    try { return frame.contentDocument.body.textContent } catch { return '' }
  }`
}

/** Inserts elements that load by GET; returns which of them got something that the page can use. */
export function elements(base: string): string {
  return `Promise.all(['img', 'script', 'link', 'video', 'EventSource'].map((tag) => new Promise((resolve) => {
    const address = ${JSON.stringify(base)} + (tag === 'EventSource' ? '/events' : '/state')
    const loaded = () => resolve(tag)
    const refused = () => resolve('')
    if (tag === 'EventSource') {
      const source = new EventSource(address)
      source.onopen = loaded
      source.onerror = () => { source.close(); refused() }
      return
    }
    const element = Object.assign(document.createElement(tag), { onload: loaded, onerror: refused, onloadeddata: loaded })
    if (tag === 'link') Object.assign(element, { rel: 'stylesheet', href: address })
    else element.src = address
    document.body.append(element)
  }))).then((tags) => tags.filter((tag) => tag !== ''))`
}
