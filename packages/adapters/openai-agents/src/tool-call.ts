import { parseExactJson } from '@actlog/recorder/adapter';

/** Properties of a function call that form its name. */
export interface NamedCall {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/**
 * Returns the name of a tool as the model sees it, with its namespace if it has one. For a tool loaded by a search, the
 * namespace is its own name, which counts as none.
 */
export function nameOf({ name, namespace }: NamedCall): string {
  return namespace && namespace !== name ? `${namespace}.${name}` : name;
}

/** Parses arguments; a text that is not JSON is returned unchanged. */
export function parsed(input: string): unknown {
  try {
    return parseExactJson(input);
  } catch {
    return input;
  }
}

/** Returns `true` if a text is JSON. */
export function isJson(input: string): boolean {
  return parsed(input) !== input;
}
