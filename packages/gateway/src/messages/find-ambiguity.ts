import { isUtf8 } from 'node:buffer';
import { callMethod } from '@actlog/recorder/adapter';
import { visit } from 'jsonc-parser';
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
  return hasRepeatedMember(text) ? 'has a member twice' : undefined;
}

function problemOfNames(message: RpcMessage): string | undefined {
  const odd = oddName(message, envelopeNames);
  if (odd) return odd;
  if (message.method !== callMethod) return undefined;
  const { params } = message;
  if (typeof params !== 'object' || params === null) return 'has no params';
  return typeof (params as { name?: unknown }).name === 'string'
    ? oddName(params, callNames)
    : 'has no params.name that is a string';
}

function oddName(value: object, names: readonly string[]): string | undefined {
  const odd = Object.keys(value).find((key) => !names.includes(key) && names.includes(key.toLowerCase()));
  return odd === undefined ? undefined : `has the member ${JSON.stringify(odd)} in another case`;
}

function hasRepeatedMember(text: string): boolean {
  const objects: Set<string>[] = [];
  let isRepeated = false;
  visit(text, {
    onObjectBegin: () => {
      objects.push(new Set());
    },
    onObjectProperty: (name) => {
      const names = objects.at(-1);
      if (names?.has(name)) isRepeated = true;
      names?.add(name);
    },
    onObjectEnd: () => {
      objects.pop();
    },
  });
  return isRepeated;
}
