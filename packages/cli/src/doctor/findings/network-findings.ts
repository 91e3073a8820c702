import type { FindingText } from './finding-text.ts';

/** Problems on the way to the service. */
export const networkFindings = {
  'proxy-invalid': {
    check: 'proxy',
    status: 'failed',
    problem: '{variable} is not an http or https URL.',
    fix: 'Set it to an address such as http://proxy.example.com:3128, or add {host} to NO_PROXY.',
  },
  'proxy-unreachable': {
    check: 'proxy',
    status: 'failed',
    problem: 'The proxy {proxy} of {variable} does not accept connections ({code}).',
    fix: 'Start it, correct {variable}, or add {host} to NO_PROXY.',
  },
  'name-unknown': {
    check: 'name',
    status: 'failed',
    problem: 'The name {host} has no address ({code}).',
    fix: 'Correct the host in ACTLOG_BASE_URL, or the name servers of this machine.',
  },
  'port-closed': {
    check: 'connection',
    status: 'failed',
    problem: 'Nothing listens on port {port} of {host} ({code}).',
    fix: 'Start the service, or correct the port in ACTLOG_BASE_URL.',
  },
  'port-unreachable': {
    check: 'connection',
    status: 'failed',
    problem: 'Port {port} of {host} cannot be reached ({code}).',
    fix: 'Allow the connection in the firewall, or set HTTPS_PROXY if this network needs a proxy.',
  },
  'tls-expired': {
    check: 'tls',
    status: 'failed',
    problem: 'The certificate of {host} has expired, or is not valid yet: it is valid from {from} to {to}.',
    fix: 'Renew the certificate on the side of the service.',
  },
  'tls-name': {
    check: 'tls',
    status: 'failed',
    problem: 'The certificate of {host} is for other names ({names}).',
    fix: 'Use one of these names in ACTLOG_BASE_URL, or a certificate for {host}.',
  },
  'tls-untrusted': {
    check: 'tls',
    status: 'failed',
    problem: 'The certificate of {host} is not trusted ({code}).',
    fix: 'Set NODE_EXTRA_CA_CERTS to the file of the authority that signed it before the program starts.',
  },
  'tls-failed': {
    check: 'tls',
    status: 'failed',
    problem: '{host} does not complete a TLS handshake on port {port} ({code}).',
    fix: 'Correct the port, or the scheme if the service speaks plain HTTP on this machine.',
  },
} as const satisfies Record<string, FindingText>;
