/** Takes IPv6 with or without brackets, and IPv4 in the form of IPv6 as sockets show it. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    /^127(?:\.\d{1,3}){3}$/.test(name.replace(/^::ffff:/, ''))
  )
}

/** What a server listens on for a host: clients take either address for `localhost`. */
export function listenAddresses(host: string): readonly [string, ...string[]] {
  return host.toLowerCase() === 'localhost' ? ['127.0.0.1', '::1'] : [host]
}

/** The host of a URL at which a server is called that listens on `host`: the addresses that stand for all cannot be called. */
export function callableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
