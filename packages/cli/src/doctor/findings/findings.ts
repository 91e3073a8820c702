import { createKey, type FindingText, serviceFindings } from './service-findings.ts';

/** Problems of Node.js and of the variables. */
const variableFindings = {
  'node-unsupported': {
    check: 'node',
    status: 'failed',
    problem: 'Node.js {version} is not supported.',
    fix: 'Install Node.js 22.19, 24.11 or newer.',
  },
  'base-url-missing': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL is not set.',
    fix: 'Set it to the address of the service, such as https://actlog.example.com. "actlog init" helps.',
  },
  'base-url-not-loaded': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL is in {file}, but not in the environment.',
    fix: 'Start the program with "node --env-file={file}", and this command with "--env-file {file}".',
  },
  'base-url-quoted': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL starts or ends with a quotation mark.',
    fix: 'Remove the quotation marks. "docker run --env-file" makes them part of the value.',
  },
  'base-url-version': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL ends in /v1.',
    fix: 'Remove /v1: the client adds it.',
  },
  'base-url-insecure': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL would send the API key unencrypted to {host}.',
    fix: 'Use https. On a trusted network, pass allowInsecureHttp to the client, and --allow-insecure-http here.',
  },
  'base-url-parts': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL contains credentials, a query or a fragment.',
    fix: 'Remove them.',
  },
  'base-url-invalid': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL is not an http or https URL.',
    fix: 'Set it to an address such as https://actlog.example.com.',
  },
  'api-key-missing': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY is not set.',
    fix: `Set it to an API key of the service. ${createKey}`,
  },
  'api-key-not-loaded': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY is in {file}, but not in the environment.',
    fix: 'Start the program with "node --env-file={file}", and this command with "--env-file {file}".',
  },
  'api-key-quoted': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY starts or ends with a quotation mark.',
    fix: 'Remove the quotation marks. "docker run --env-file" makes them part of the value.',
  },
  'api-key-white-space': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY contains white space or a line break.',
    fix: 'Remove it, or copy the key again.',
  },
  'api-key-not-ascii': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY contains a character that is not ASCII, such as the "…" of an example.',
    fix: 'Copy the key again.',
  },
  'api-key-foreign': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY is not an actlog key, which starts with al_live_ or al_test_.',
    fix: 'Check that it is not the key of another service.',
  },
} as const satisfies Record<string, FindingText>;

/** Problems of the spool folder and of what waits in it. */
const spoolFindings = {
  'spool-not-a-folder': {
    check: 'spool-folder',
    status: 'failed',
    problem: '{path} is not a folder.',
    fix: 'Remove it, or set ACTLOG_SPOOL_DIR to another folder.',
  },
  'spool-owner': {
    check: 'spool-folder',
    status: 'failed',
    problem: '{path} belongs to another user (uid {uid}).',
    fix: 'Change its owner with "chown {own} {path}" after looking through it, or set ACTLOG_SPOOL_DIR to another folder.',
  },
  'spool-mode': {
    check: 'spool-folder',
    status: 'failed',
    problem: 'Other users can write to {path} (mode {mode}), so that no event is kept there.',
    fix: 'Look through it, then run "chmod 700 {path}".',
  },
  'spool-not-writable': {
    check: 'spool-folder',
    status: 'failed',
    problem: '{path} cannot be written ({code}), so that events are kept in memory only.',
    fix: 'Let this user write to it, or set ACTLOG_SPOOL_DIR to another folder.',
  },
  'spool-files-skipped': {
    check: 'spool-folder',
    status: 'failed',
    problem: 'Files in the spool folder are not delivered: {problem}',
    fix: 'Remove them, or look through them and change their owner to this user and their mode to 600.',
  },
  'spool-full': {
    check: 'spool-size',
    status: 'failed',
    problem:
      'The journal of process {pid} is full ({size} of {limit}), so that its oldest events are being dropped.',
    fix: 'Restore the delivery: the lines above and "actlog spool status" say what stops it. Or raise maxSpoolBytes.',
  },
  'disk-full': {
    check: 'spool-size',
    status: 'failed',
    problem: 'The disk of {path} has {free} of free space left.',
    fix: 'Free space, or set ACTLOG_SPOOL_DIR to a folder on another disk.',
  },
  'waiting-of-ended': {
    check: 'waiting',
    status: 'warning',
    problem: '{count} of processes that have ended wait since {since}.',
    fix: 'Run "actlog spool flush", or start the agent again: its recorder delivers them.',
  },
  'waiting-too-long': {
    check: 'waiting',
    status: 'warning',
    problem: '{count} of running processes ({pids}) wait since {since}.',
    fix: 'Look at the onError of the recorder in that process: it may have another address or key.',
  },
  'waiting-elsewhere': {
    check: 'waiting',
    status: 'warning',
    problem: '{count} wait for another address, key or tenant in {path}.',
    fix: 'Run "actlog spool flush" with the ACTLOG_BASE_URL and ACTLOG_API_KEY, or the ACTLOG_TENANT, of that time.',
  },
  'dead-letters': {
    check: 'dead-letters',
    status: 'warning',
    problem: 'The service rejected {count}, the last at {time}: {reason}.',
    fix: 'Run "actlog spool inspect --dead-letters", fix the cause, then remove the dead-letters files in {path}.',
  },
  'dead-letters-unreadable': {
    check: 'dead-letters',
    status: 'warning',
    problem: '{problem}',
    fix: 'Remove the file, or make it readable for this user only.',
  },
} as const satisfies Record<string, FindingText>;

/** Problems on the way to the service. */
const networkFindings = {
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

const useOneVersion = 'Install one version of all @actlog packages, then run "{dedupe}".';

/** Problems of the installed packages, and of the checks themselves. */
const packageFindings = {
  'recorder-versions': {
    check: 'recorder',
    status: 'failed',
    problem: '@actlog/recorder is installed in several versions: {copies}.',
    fix: useOneVersion,
  },
  'recorder-copies': {
    check: 'recorder',
    status: 'failed',
    problem: '@actlog/recorder is installed several times: {copies}.',
    fix: useOneVersion,
  },
  'peer-missing': {
    check: 'frameworks',
    status: 'failed',
    problem: '{adapter} needs {peer} {range}, which is not installed.',
    fix: 'Run "{install} {peer}@{wanted}".',
  },
  'peer-out-of-range': {
    check: 'frameworks',
    status: 'failed',
    problem: '{adapter} {version} works with {peer} {range}, and {found} is installed.',
    fix: 'Run "{install} {peer}@{wanted}", or install an {adapter} that works with {peer} {found}.',
  },
  'adapter-missing': {
    check: 'frameworks',
    status: 'warning',
    problem: 'This project uses {framework}, and {adapter} is not installed.',
    fix: 'Run "{install} {adapter} @actlog/recorder", then "actlog init" for the line to add.',
  },
  'check-broken': {
    check: 'any',
    status: 'failed',
    problem: 'This could not be checked: {problem}',
    fix: 'Repeat this. If it stays, report it with the output of "actlog doctor --json".',
  },
} as const satisfies Record<string, FindingText>;

/** All problems by their code, in the order of the checks. The table of docs/troubleshooting.md is made from them. */
export const findings = {
  ...variableFindings,
  ...networkFindings,
  ...serviceFindings,
  ...spoolFindings,
  ...packageFindings,
} as const;

/** Code of a problem, the same in every release. */
export type FindingCode = keyof typeof findings;

/** Names of the placeholders in a string. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Values for the placeholders of a problem and its fix. */
export type FindingValues<Code extends FindingCode> = Readonly<
  Record<
    Placeholders<(typeof findings)[Code]['problem']> | Placeholders<(typeof findings)[Code]['fix']>,
    string | number
  >
>;
