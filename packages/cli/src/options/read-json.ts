import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { parseExactJson } from '@actlog/protocol';
import { decodeText } from '@actlog/recorder/short-lived';
import { InvalidArgumentError } from 'commander';
import { UsageError } from '../errors/usage-error.ts';

/** Parses the JSON object of an option; its numbers keep all digits. @throws InvalidArgumentError that contains nothing of the text */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new InvalidArgumentError('It must be a JSON object, such as {"team":"billing"}.');
}

/**
 * Reads a file, or standard input for `-`, as text.
 *
 * @throws UsageError when the file cannot be read
 */
export async function readInput(file: string): Promise<string> {
  if (file === '-') return decodeText(await buffer(process.stdin));
  try {
    return decodeText(readFileSync(file));
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

/**
 * Reads a JSON object from a file, or from standard input for `-`.
 *
 * @throws UsageError when the file cannot be read, or has no JSON object. The message contains nothing of its content.
 */
export async function readObject(file: string): Promise<Record<string, unknown>> {
  const text = await readInput(file);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The message of the parser quotes the text.
  }
  throw new UsageError(
    `${file === '-' ? 'Standard input' : `The file "${file}"`} must contain one JSON object.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
