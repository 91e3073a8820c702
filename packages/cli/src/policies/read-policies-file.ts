import { UsageError } from '../errors/usage-error.ts';
import { readInput } from '../options/read-json.ts';

/**
 * Reads policies from a JSON file, or from standard input for `-`: one policy, an array, or an object with `policies`.
 *
 * @throws UsageError when the file cannot be read, or has none of these. The message contains nothing of its content.
 */
export async function readPolicies(file: string): Promise<object[]> {
  const text = await readInput(file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
  }
  const list = Array.isArray(value) ? value : isObject(value) ? (value.policies ?? [value]) : undefined;
  if (Array.isArray(list) && list.length > 0 && list.every(isObject)) return list;
  const name = file === '-' ? 'Standard input' : `The file "${file}"`;
  throw new UsageError(`${name} must contain a policy as JSON, an array of policies, or {"policies": […]}.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
