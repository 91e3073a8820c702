// Preloaded by tests: makes `localhost` resolve to the IPv6 address first and then the IPv4 one, as on most machines.
import dns from 'node:dns';

const { lookup } = dns;
const addresses = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];

function lookUp(host: string, options: dns.LookupAllOptions, callback: (...result: unknown[]) => void): void {
  if (host === 'localhost') process.nextTick(callback, null, addresses);
  else lookup(host, options, callback);
}

Object.assign(dns, { lookup: lookUp });
