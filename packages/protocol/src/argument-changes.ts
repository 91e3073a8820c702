import { exactDigitsOf } from './exact-json.ts';
import type { EditableArgument } from './schemas/policy.ts';

/** Changed values of arguments, by argument path such as `amount` or `address.city`. */
export type ArgumentChanges = Readonly<Record<string, unknown>>;

/** A change that cannot be made. */
export interface ChangeProblem {
  /** Path of the argument. */
  readonly path: string;
  /** Machine-readable kind of the problem. */
  readonly code: 'not_editable' | 'not_shown' | 'not_permitted' | 'unchanged' | 'not_applicable';
  /** The problem, phrased to follow the path; it has no value of an argument. */
  readonly message: string;
}

/** Arguments with changes, or the first change that cannot be made. */
export type ChangedArguments =
  | { readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly problem: ChangeProblem };

/**
 * Returns shown arguments with an approver's changes, each within the limits of the policies that hold the action.
 * Nothing is modified.
 *
 * @param changes - values from JSON; a whole number beyond 2^53 is a BigInt or has its digits
 */
export function changeShownArguments(
  shown: Readonly<Record<string, unknown>>,
  editable: readonly EditableArgument[],
  changes: ArgumentChanges,
): ChangedArguments {
  let changed: unknown = shown;
  for (const [path, value] of Object.entries(changes)) {
    const limit = editable.find((one) => one.path === path);
    if (!limit) return { problem: notEditable(path, editable) };
    const requested = valueAt(shown, path);
    if (!requested) return { problem: notShown(path) };
    const problem = limitProblem(limit, requested.value, value);
    if (problem) return { problem: { path, ...problem } };
    changed = withValue(changed, path.split('.'), narrowed(requested.value, value));
  }
  return { arguments: changed as Record<string, unknown> };
}

/**
 * Returns a call's arguments with an approver's changes. The arguments are not modified: objects on the way to a changed
 * value are copied, and everything else is the same. A changed number has the type of the requested one, and elements of a
 * list are the requested ones.
 *
 * @param args - arguments of the call
 * @param shown - the part of them that the approver saw; a value that was shown differently cannot be changed
 */
export function changeCallArguments(
  args: unknown,
  shown: unknown,
  changes: ArgumentChanges,
): ChangedArguments {
  let changed = args;
  for (const [path, value] of Object.entries(changes)) {
    const requested = valueAt(args, path);
    const seen = valueAt(shown, path);
    if (!requested || !seen || !isSameJson(requested.value, seen.value)) {
      const message = 'is not an argument of the call with the value that was shown, so it cannot be changed';
      return { problem: { path, code: 'not_applicable', message } };
    }
    const next = narrowed(requested.value, value);
    if (kindOf(next) !== kindOf(requested.value)) {
      const message = 'has another type than the changed value';
      return { problem: { path, code: 'not_applicable', message } };
    }
    changed = withValue(changed, path.split('.'), next);
  }
  return { arguments: changed as Record<string, unknown> };
}

/** `true` if two values are the same JSON: members in any order, and numbers by all their digits. */
export function isSameJson(left: unknown, right: unknown): boolean {
  const [number, other] = [numberOf(left), numberOf(right)];
  // A BigInt and a number with the same value are the same JSON.
  // biome-ignore lint/suspicious/noDoubleEquals: compares both types by their value
  if (number !== undefined || other !== undefined) return number == other;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return left === right;
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSameJson(item, right[index]));
  }
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length || !isPlain(left) || !isPlain(right)) return false;
  return names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name], right[name]));
}

/** Returns the value at a path of names; undefined if there is none, or if a list or another object is in between. */
export function valueAt(from: unknown, path: string): { readonly value: unknown } | undefined {
  let value = from;
  for (const name of path.split('.')) {
    // The service removes this member, so nobody has seen it.
    if (name === '__proto__' || !isPlain(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return { value };
}

function notEditable(path: string, editable: readonly EditableArgument[]): ChangeProblem {
  const paths = editable.map((one) => one.path).join(', ');
  const message = paths
    ? `cannot be changed; the policy permits changes of ${paths}`
    : 'cannot be changed, because no policy that holds the action permits changes (approval.editable)';
  return { path, code: 'not_editable', message };
}

function notShown(path: string): ChangeProblem {
  const message = 'is not among the arguments that the agent shows, so nobody can have seen it';
  return { path, code: 'not_shown', message };
}

/** Returns the reason why a policy does not permit a changed value; undefined if it does. */
function limitProblem(
  limit: EditableArgument,
  requested: unknown,
  value: unknown,
): Pick<ChangeProblem, 'code' | 'message'> | undefined {
  const permitted = (message: string) => ({ code: 'not_permitted' as const, message });
  if (isSameJson(requested, value)) {
    return { code: 'unchanged', message: 'has this value already; leave it out' };
  }
  if (limit.subset === true) {
    if (!Array.isArray(requested)) return permitted('is not a list, and the policy permits parts of a list');
    const isPart = Array.isArray(value) && value.length > 0 && partOf(requested, value) !== undefined;
    return isPart
      ? undefined
      : permitted('must be a list with at least one of the requested elements and no others, in their order');
  }
  if (limit.oneOf !== undefined || limit.anyText === true) {
    if (typeof requested !== 'string') return permitted('is not a text, and the policy permits other texts');
    if (typeof value !== 'string') return permitted('must be a text');
    if (limit.oneOf && !limit.oneOf.includes(value)) {
      return permitted(`must be one of ${limit.oneOf.map((text) => JSON.stringify(text)).join(', ')}`);
    }
    return value.length <= maxTextLength && value.isWellFormed()
      ? undefined
      : permitted(`must be well-formed text of at most ${maxTextLength} characters`);
  }
  const [from, to] = [numberOf(requested), numberOf(value)];
  if (from === undefined) return permitted('is not a number, and the policy permits smaller numbers');
  if (to === undefined) return permitted('must be a number');
  const { min = 0, max } = limit;
  if (to < min) return permitted(`must not be below ${min}`);
  if (max !== undefined && to > max) return permitted(`must not be above ${max}`);
  return to > from ? permitted('must not be above the requested number') : undefined;
}

/** Maximum length of a changed text, in characters. */
const maxTextLength = 2000;

/** Returns the changed value with the types and elements of the requested one. */
function narrowed(requested: unknown, value: unknown): unknown {
  if (Array.isArray(requested) && Array.isArray(value)) return partOf(requested, value);
  const number = numberOf(value);
  if (number === undefined) return value;
  if (typeof requested === 'bigint')
    return typeof number === 'number' && Number.isInteger(number) ? BigInt(number) : number;
  return typeof requested === 'number' && Number.isSafeInteger(Number(number)) ? Number(number) : value;
}

/** Returns the type of a value as a tool sees it. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && numberOf(value) !== undefined ? 'number' : typeof value;
}

/** Returns the elements of a list that equal another list's, in the same order; undefined if one is missing. */
function partOf(list: readonly unknown[], wanted: readonly unknown[]): unknown[] | undefined {
  const part: unknown[] = [];
  let from = 0;
  for (const item of wanted) {
    while (from < list.length && !isSameJson(list[from], item)) from += 1;
    if (from === list.length) return undefined;
    part.push(list[from]);
    from += 1;
  }
  return part;
}

/** Returns a number or a BigInt with exactly the value of a number of any form; undefined for any other value. */
function numberOf(value: unknown): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const digits = exactDigitsOf(value);
  return digits !== undefined && /^-?\d+$/.test(digits) ? BigInt(digits) : undefined;
}

/** `true` for an object like those that JSON becomes. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (exactDigitsOf(value) !== undefined) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  // An object of another realm, such as a test runner's, has another `Object.prototype`.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns a copy of nested objects with another value at a path that exists. */
function withValue(from: unknown, [name = '', ...rest]: readonly string[], value: unknown): unknown {
  const object = from as Readonly<Record<string, unknown>>;
  return { ...object, [name]: rest.length === 0 ? value : withValue(object[name], rest, value) };
}
