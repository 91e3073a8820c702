/** Advice that the fixes of several problems share. */
export const createKey = `Create one with "npx actlog keys create NAME --scopes ingest,read --agents 'NAME*'" or on the console.`;

/** Problems of the service, the key and the clock. */
export const serviceFindings = {
  'service-redirects': {
    check: 'service',
    status: 'failed',
    problem: '{url} redirects to {location}.',
    fix: 'Set ACTLOG_BASE_URL to the address of the service itself. If it is a sign-in page of this network, sign in.',
  },
  'service-web-page': {
    check: 'service',
    status: 'failed',
    problem: '{url} responds with a web page (HTTP {status}), not as actlog does.',
    fix: 'Sign in to this network, add {host} to NO_PROXY, or correct ACTLOG_BASE_URL.',
  },
  'service-foreign': {
    check: 'service',
    status: 'failed',
    problem: '{url} does not respond as actlog does (HTTP {status}).',
    fix: 'Correct the host, the port and the path in ACTLOG_BASE_URL.',
  },
  'service-proxy-sign-in': {
    check: 'service',
    status: 'failed',
    problem: 'The proxy requires a user and a password (HTTP 407).',
    fix: 'Add them to the address in HTTPS_PROXY, percent-encoded.',
  },
  'service-unavailable': {
    check: 'service',
    status: 'failed',
    problem: 'The service is not available (HTTP {status}).',
    fix: 'Repeat this in a minute. If it stays, look at the log of the service, and of what is in front of it.',
  },
  'service-not-ready': {
    check: 'service',
    status: 'failed',
    problem: 'The service responds, but its database does not.',
    fix: 'Start the database, or look at the log of the service.',
  },
  'service-silent': {
    check: 'service',
    status: 'failed',
    problem: '{url} sends no response ({code}).',
    fix: 'Look at the log of the service, and of what is in front of it. --timeout waits longer.',
  },
  'clock-off': {
    check: 'clock',
    status: 'failed',
    problem: 'The clock of this machine is {difference} {direction} that of the service.',
    fix: 'Synchronize the clocks of both machines, for example with "timedatectl set-ntp true".',
  },
  'key-rejected': {
    check: 'key',
    status: 'failed',
    problem:
      'The service rejects the API key: it is unknown, revoked or expired, or a test key where only live keys count.',
    fix: `Set ACTLOG_API_KEY to a key of this service. ${createKey}`,
  },
  'key-throttled': {
    check: 'key',
    status: 'failed',
    problem: 'The service limits the requests of this key or this address for now (HTTP 429).',
    fix: 'Repeat this in {seconds} s. If agents see it too, raise the rate limit of the service.',
  },
  'key-expires-soon': {
    check: 'key',
    status: 'warning',
    problem: 'The API key expires at {time}.',
    fix: 'Rotate it with "npx actlog keys rotate {keyId}", and set ACTLOG_API_KEY to the new one.',
  },
  'key-without-ingest': {
    check: 'permissions',
    status: 'failed',
    problem: 'The API key lacks the scope "ingest", so that no event is accepted and no call is checked.',
    fix: `Use a key with this scope. ${createKey}`,
  },
  'service-too-old': {
    check: 'version',
    status: 'failed',
    problem: 'The service has version {service}; this command needs {oldest} or newer.',
    fix: 'Upgrade the service, or use "npx actlog@{service}" with it.',
  },
  'service-too-new': {
    check: 'version',
    status: 'failed',
    problem: 'The service has version {service}, too new for this command, which has {own}.',
    fix: 'Upgrade this command and the @actlog packages: "npx actlog@latest doctor".',
  },
  'quota-used-up': {
    check: 'quota',
    status: 'failed',
    problem: 'The quota {quota} is used up: {used} of {max}.',
    fix: 'Raise it with "npx actlog quota", or remove what is not needed.',
  },
  'quota-nearly-used-up': {
    check: 'quota',
    status: 'warning',
    problem: 'The quota {quota} is nearly used up: {used} of {max}.',
    fix: 'Raise it with "npx actlog quota", or remove what is not needed.',
  },
  'spans-not-recorded': {
    check: 'spans',
    status: 'warning',
    problem: '{count} spans of tools of the instrumentation {scope} are not recorded ({reason}).',
    fix: 'Compare its attributes with those in docs/otlp.md, or use another instrumentation.',
  },
  'spans-without-arguments': {
    check: 'spans',
    status: 'warning',
    problem:
      '{count} calls of the instrumentation {scope} are recorded without a hash of their arguments ({reason}).',
    fix: 'Let it write the arguments as JSON of at most 256 KiB; docs/otlp.md has the attributes.',
  },
  'forwarding-fails': {
    check: 'forwarding',
    status: 'warning',
    problem: 'The destination "{forward}" does not accept records, and is {entries} entries behind: {error}',
    fix: 'Look at the log of the service and at the destination. Nothing is lost: what waits is sent when it is back.',
  },
  'forwarding-behind': {
    check: 'forwarding',
    status: 'warning',
    problem: 'The destination "{forward}" is {minutes} min and {entries} entries behind.',
    fix: 'Compare actlog_forward_records_total in /metrics with the events that arrive: the destination may be too slow.',
  },
} as const satisfies Record<string, FindingText>;

/** A problem that `actlog doctor` can find. Strings may have placeholders, such as `{host}`. */
export interface FindingText {
  /** Id of the check that finds it. */
  readonly check: string;
  /** `failed` makes the command exit with 1; `warning` does not. */
  readonly status: 'failed' | 'warning';
  readonly problem: string;
  readonly fix: string;
}
