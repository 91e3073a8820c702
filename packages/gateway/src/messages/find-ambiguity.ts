import { isUtf8 } from 'node:buffer';
import { callMethod, repeatedMember } from '@actlog/recorder/adapter';
import { messagesOf, type RpcMessage } from './json-rpc.ts';

const carriageReturn = 0x0d;

/** Members of a message that decide which tool is called. Some parsers ignore the case of names. */
const envelopeNames: readonly string[] = ['id', 'method', 'params'];
const callNames: readonly string[] = ['name', 'arguments'];

/**
 * Returns the problem of a message that another parser may read in another way than the gateway, which could then check
 * one call while the server runs another; undefined if there is none.
 *
 * Parsers differ in repeated members (RFC 8259, section 4), in the case of their names, in bytes that are not UTF-8,
 * and some end a line at a carriage return.
 *
 * @param line - message with or without its line ending
 * @param value - its parsed form
 */
export function findAmbiguity(line: Buffer, text: string, value: unknown): string | undefined {
  if (!isUtf8(line)) return 'is not valid UTF-8';
  const end = text.trimEnd();
  if (line.includes(carriageReturn) && end.includes('\r')) return 'contains a carriage return';
  for (const message of messagesOf(value)) {
    const problem = problemOfNames(message);
    if (problem) return problem;
  }
  // Serialized as most clients do, it cannot have a repeated member.
  if (JSON.stringify(value) === end) return undefined;
  const repeated = repeatedMember(text);
  return repeated === undefined ? undefined : `has the member ${JSON.stringify(repeated)} twice`;
}

function problemOfNames(message: RpcMessage): string | undefined {
  const odd = oddName(message, envelopeNames);
  if (odd) return odd;
  if (message.method !== callMethod) return undefined;
  const { params } = message;
  if (typeof params !== 'object' || params === null) return 'has no params';
  const { name, arguments: args } = params as { readonly name?: unknown; readonly arguments?: unknown };
  if (typeof name !== 'string') return 'has no params.name that is a string';
  return (
    oddName(params, callNames) ?? (typeof args === 'object' && args !== null ? twinName(args) : undefined)
  );
}

function oddName(value: object, names: readonly string[]): string | undefined {
  const odd = Object.keys(value).find((key) => !names.includes(key) && names.includes(folded(key)));
  return odd === undefined ? undefined : `has the member ${JSON.stringify(odd)} in another case`;
}

/** Arguments that differ only in case are one argument for a server that ignores case, which takes the last. */
function twinName(args: object): string | undefined {
  const seen = new Set<string>();
  for (const key of Object.keys(args)) {
    if (seen.has(folded(key))) return `has the argument ${JSON.stringify(key)} twice, in another case`;
    seen.add(folded(key));
  }
  return undefined;
}

/**
 * Returns a name without case, as the most tolerant parsers compare names: Go folds U+017F to `s` and U+212A to `k`, and
 * Java takes the dotless and the dotted `i` for one.
 */
function folded(name: string): string {
  return name
    .replaceAll(/[\u0130\u0131]/g, 'i')
    .toUpperCase()
    .toLowerCase();
}
