import { CommanderError } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { OutputClosedError } from '../output/print.ts';
import { printable, printableLines } from '../output/printable.ts';
import {
  CanceledError,
  ExitCodeError,
  InterruptedError,
  MissingKeyError,
  UsageError,
} from './usage-error.ts';

/** Text for the user, if any, and exit code of a command that did not come to its end. */
export interface DescribedError {
  /** Error message. */
  readonly message?: string;
  /** Text that is not about an error. */
  readonly note?: string;
  readonly exitCode: number;
}

/** Fields of the client's errors. They are read by name, because most commands never load the client. */
interface ServiceError {
  readonly code?: string;
  readonly status?: number;
  readonly path?: string;
  readonly message: string;
}

const connectionCodes: readonly unknown[] = ['CONNECTION_FAILED', 'TIMEOUT', 'TLS_FAILED'];

/** Nouns for the records of a path, and the commands that list them. */
const records: Readonly<Record<string, readonly [noun: string, list: string]>> = {
  sessions: ['session', 'actlog sessions list'],
  agents: ['agent', 'actlog agents list'],
  policies: ['policy', 'actlog policies list'],
  guardian: ['held action', 'actlog guardian list'],
  grants: ['grant', 'actlog guardian grants --all'],
  judgments: ['judgment', 'actlog risk judgments --all'],
};

/** Returns the message and the exit code for an error of a command. */
export function describeError(error: unknown): DescribedError {
  // Commander has printed its message.
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage };
  }
  if (error instanceof OutputClosedError) return { exitCode: exitCodes.ok };
  if (error instanceof CanceledError) return { note: error.message, exitCode: exitCodes.ok };
  if (error instanceof InterruptedError) {
    return { ...(error.message !== '' && { message: error.message }), exitCode: error.exitCode };
  }
  if (error instanceof MissingKeyError) return { message: error.message, exitCode: exitCodes.keyRejected };
  if (error instanceof ExitCodeError) {
    return { message: printableLines(error.message), exitCode: error.exitCode };
  }
  if (error instanceof UsageError) return { message: printable(error.message), exitCode: exitCodes.usage };
  const failure = (error ?? {}) as ServiceError;
  return { message: printableLines(inTermsOfFlags(failure)), exitCode: exitCodeOf(failure) };
}

function exitCodeOf({ code, status }: ServiceError): number {
  if (code === 'INVALID_ARGUMENT') return exitCodes.usage;
  if (connectionCodes.includes(code)) return exitCodes.unreachable;
  if (status === 401 || status === 403) return exitCodes.keyRejected;
  return exitCodes.failed;
}

/** Names of the client's options, with what a user of the command sets instead. */
const flagsOf: readonly (readonly [option: RegExp, flag: string])[] = [
  [/\ballowInsecureHttp: true\b/g, '--allow-insecure-http'],
  [/\braise maxResponseBytes, request less\b/g, 'request less with --limit'],
  [/ \(timeoutMs\)/g, ''],
  [/\bbaseURL\b/g, '--base-url (ACTLOG_BASE_URL)'],
  [/\bapiKey\b/g, 'ACTLOG_API_KEY'],
  [/\blogLevel\b/g, 'ACTLOG_LOG'],
];

/** Returns a message with flags and variables of the command instead of the client's options. */
function inTermsOfFlags(failure: ServiceError): string {
  const message = messageOf(failure);
  // What the service writes may quote what users wrote.
  if (failure.code === undefined || failure.status !== undefined) return message;
  return flagsOf.reduce((text, [option, flag]) => text.replaceAll(option, flag), message);
}

function messageOf(failure: ServiceError): string {
  const { code, status, path, message } = failure;
  if (connectionCodes.includes(code)) {
    return `${message} Check --base-url or ACTLOG_BASE_URL, and that the service runs.`;
  }
  if (status === 401) {
    return 'The service rejected the API key: set ACTLOG_API_KEY to a key of this deployment that has not expired.';
  }
  if (status === 403 && message.includes('scope'))
    return `${message} Use a key with that scope: \`actlog keys create NAME --scopes …\`.`;
  if (status === 404) {
    return (
      notFoundMessage(path) ??
      `${message} Check that --base-url or ACTLOG_BASE_URL is the address of an actlog service.`
    );
  }
  return message;
}

/** Returns the message for an unknown id; undefined for a path without one, such as a wrong address has. */
function notFoundMessage(path = ''): string | undefined {
  const [, rest] = path.split('/v1/');
  const [resource = '', ...ids] = rest?.split('/') ?? [];
  const id = resource === 'guardian' ? ids[1] : ids[0];
  const found = records[resource];
  if (!found || id === undefined) return undefined;
  return `There is no ${found[0]} "${decodeURIComponent(id)}": \`${found[1]}\` shows the ids.`;
}
