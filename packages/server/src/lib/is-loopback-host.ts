import ipaddr from 'ipaddr.js';

/** `true` if a host, as a name, an address or in a URL, is this machine. */
export function isLoopbackHost(host: string): boolean {
  if (host === 'localhost') return true;
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
