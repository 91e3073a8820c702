import type { GuardOptions } from './guard-options.ts';

/** Text of the option that selects all arguments. */
const everything = '*';

/**
 * Creates the `showArguments` of a command, from the value of its option.
 *
 * @param option - `*` for all arguments, or paths separated by commas, such as `command,user.name`
 * @throws RangeError when a path is empty
 */
export function showArgumentsOf(option: string): NonNullable<GuardOptions['showArguments']> {
  if (option === everything) return (args) => (isObject(args) ? args : { value: args });
  const paths = option.split(',').map((path) => path.trim().split('.'));
  if (paths.flat().includes('')) {
    throw new RangeError(
      `The paths of shown arguments must be names such as command,user.name, got ${JSON.stringify(option)}.`,
    );
  }
  return (args) => {
    const shown: Record<string, unknown> = {};
    for (const path of paths) copyAt(path, args, shown);
    return shown;
  };
}

/** Copies the value at a path, if there is one, with the objects around it. */
function copyAt([name = '', ...rest]: readonly string[], from: unknown, to: Record<string, unknown>): void {
  if (!isObject(from) || !Object.hasOwn(from, name)) return;
  const value = from[name];
  if (rest.length > 0 && !isObject(value)) return;
  const known = Object.hasOwn(to, name) ? to[name] : {};
  const copy = rest.length === 0 ? value : known;
  // An assignment to `__proto__` would set the prototype.
  Object.defineProperty(to, name, { value: copy, enumerable: true, configurable: true, writable: true });
  if (rest.length > 0) copyAt(rest, value, copy as Record<string, unknown>);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
