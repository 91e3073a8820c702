/** A server in the configuration of a client, as far as the gateway reads it. */
export interface ServerEntry {
  readonly type?: unknown;
  readonly command?: unknown;
  readonly args?: unknown;
  readonly env?: unknown;
  readonly url?: unknown;
  readonly headers?: unknown;
}

/** Changes to the members of an entry, in the order in which they are made; `undefined` removes one. */
export type EntryChanges = readonly (readonly [name: string, value: unknown])[];

/** Variable with the headers for `--url`, one a line. Arguments are visible to other users of a machine. */
export const headersVariable = 'ACTLOG_GATEWAY_HEADERS';

/** Arguments of the command before its options. */
const gatewayArgs = ['actlog', 'gateway'] as const;

/** Options of a wrapped entry. */
export interface WrapOptions {
  /** Options of the gateway, such as `['--guard', 'enforce']`. */
  readonly options: readonly string[];
  /** Variables for the gateway, which desktop programs do not inherit from a shell. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Returns `true` for an entry whose command is the gateway. */
export function isWrapped({ command, args }: ServerEntry): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])];
  return words.some((word, index) => word === gatewayArgs[0] && words[index + 1] === gatewayArgs[1]);
}

/** Returns the reason why an entry cannot be wrapped; undefined if it can. */
export function obstacle({ type, command, url }: ServerEntry): string | undefined {
  if (typeof command === 'string') return undefined;
  if (typeof url !== 'string') return 'it has neither a command nor a url';
  if (type === 'sse') return 'it uses the transport "sse", which Streamable HTTP has replaced';
  return undefined;
}

/** Returns the changes that put the gateway in front of an entry's server. */
export function wrapChanges(entry: ServerEntry, { options, variables }: WrapOptions): EntryChanges {
  const gateway = ['-y', ...gatewayArgs, ...options];
  const env = { ...asRecord(entry.env), ...variables };
  if (typeof entry.command === 'string') {
    const args = Array.isArray(entry.args) ? (entry.args as readonly unknown[]) : [];
    return [['command', 'npx'], ['args', [...gateway, '--', entry.command, ...args]], ...envChange(env)];
  }
  const headers = Object.entries(asRecord(entry.headers)).map(([name, value]) => `${name}: ${value}`);
  const headersEnv = headers.length > 0 ? { [headersVariable]: headers.join('\n') } : {};
  return [
    ['command', 'npx'],
    ['args', [...gateway, '--url', entry.url]],
    ...envChange({ ...env, ...headersEnv }),
    ...(entry.type === undefined ? [] : [['type', 'stdio'] as const]),
    ['url', undefined],
    ...(entry.headers === undefined ? [] : [['headers', undefined] as const]),
  ];
}

/**
 * Returns the changes that remove the gateway if no backup has the earlier entry: takes the command, arguments and
 * address from the arguments of the gateway.
 */
export function unwrapChanges(entry: ServerEntry): EntryChanges {
  const args = Array.isArray(entry.args) ? (entry.args as readonly unknown[]) : [];
  const separator = args.indexOf('--');
  const { [headersVariable]: headers, ...others } = asRecord(entry.env);
  const env = Object.fromEntries(Object.entries(others).filter(([name]) => !name.startsWith('ACTLOG_')));
  const envAfter = ['env', Object.keys(env).length > 0 ? env : undefined] as const;
  if (separator >= 0) {
    return [['command', args[separator + 1]], ['args', args.slice(separator + 2)], envAfter];
  }
  const fields = String(headers ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const);
  return [
    ['url', args[args.indexOf('--url') + 1]],
    ...(fields.length > 0 ? [['headers', Object.fromEntries(fields)] as const] : []),
    ...(entry.type === 'stdio' ? [['type', 'http'] as const] : []),
    ['command', undefined],
    ['args', undefined],
    envAfter,
  ];
}

function envChange(env: Readonly<Record<string, unknown>>): EntryChanges {
  return Object.keys(env).length > 0 ? [['env', env]] : [];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
