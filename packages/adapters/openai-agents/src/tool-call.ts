/** The parts of a function call that its name is made of. */
interface NamedCall {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/**
 * The name of a tool as the model knows it, with the namespace where it has one. A tool that a search has loaded is
 * called with its own name for a namespace; it has none.
 */
export function nameOf({ name, namespace }: NamedCall): string {
  return namespace && namespace !== name ? `${namespace}.${name}` : name;
}

/** Arguments as the model meant them; a text that is no JSON stays as it is. */
export function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Whether a text is JSON. */
export function isJson(input: string): boolean {
  return parsed(input) !== input;
}
