import { type ArgumentOrigin, type ArgumentOrigins, argumentWords } from '@actlog/protocol';
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { ConditionError } from './condition-error.ts';
import { childrenOf, isComprehension, methodOf } from './syntax-tree.ts';

/** Origin of one argument as a condition reads it: fields that the check omits are empty strings. */
class ReadableOrigin {
  readonly from: string;
  readonly as: string;
  readonly toolName: string;
  readonly eventId: string;

  constructor(origin: Readonly<ArgumentOrigin>) {
    this.from = origin.from;
    this.as = origin.as ?? '';
    this.toolName = origin.toolName ?? '';
    this.eventId = origin.eventId ?? '';
  }
}

const sources: readonly ArgumentOrigin['from'][] = ['user', 'system', 'tool', 'model', 'approver', 'unknown'];
const forms: readonly NonNullable<ArgumentOrigin['as']>[] = ['field', 'text'];

/** Values of the fields of an origin that have a fixed set of values. */
const knownValues = { from: sources, as: [...forms, ''] } as const satisfies Record<
  string,
  readonly string[]
>;

type KnownField = keyof typeof knownValues;

const originType = 'ArgumentOrigin';
const originsType = `map<string, ${originType}>`;

/** Adds the variable `origins` and its functions `any` and `aimedByText` to an environment. */
export function registerOrigins(environment: Environment): Environment {
  const fields = { from: 'string', as: 'string', toolName: 'string', eventId: 'string' };
  environment
    .registerType(originType, { ctor: ReadableOrigin, fields })
    .registerVariable('origins', originsType);
  const from = { name: 'from', type: 'string' };
  const as = { name: 'as', type: 'string' };
  for (const params of [[from], [from, as]]) {
    environment.registerFunction({
      name: 'any',
      receiverType: originsType,
      returnType: 'bool',
      params,
      handler: hasOrigin,
      async: false,
    });
  }
  environment.registerFunction({
    name: 'aimedByText',
    receiverType: originsType,
    returnType: 'bool',
    params: [],
    handler: (origins: unknown) => {
      if (!(origins instanceof Map)) throw new TypeError('aimedByText() is a function of origins');
      return isAimedByText(origins as ReadonlyMap<string, ReadableOrigin>);
    },
    async: false,
  });
  return environment;
}

function hasOrigin(origins: unknown, from: string, as?: string): boolean {
  // At run time, the library accepts any map as the receiver.
  if (!(origins instanceof Map)) throw new TypeError('any() is a function of origins');
  for (const origin of (origins as ReadonlyMap<string, ReadableOrigin>).values()) {
    if (origin.from === from && (as === undefined || origin.as === as)) return true;
  }
  return false;
}

/**
 * Returns origins in the form that conditions read.
 *
 * @throws Error if the check has none.
 */
export function readableOrigins(origins: ArgumentOrigins | undefined): ReadonlyMap<string, ReadableOrigin> {
  if (!origins) {
    throw new Error('the check has no argument origins: turn on `origins` in the recorder');
  }
  return new Map(Object.entries(origins).map(([path, origin]) => [path, new ReadableOrigin(origin)]));
}

/** `true` for a field of an origin, such as `origins.recipient.from`. */
export function isOriginField(node: ASTNode): boolean {
  return node.op === '.' && isOriginAccess(node.args[0]);
}

function isOriginAccess(node: ASTNode): boolean {
  return (node.op === '.' || node.op === '[]') && isOrigins(node.args[0]);
}

/** `true` for the name `origins`. */
export function isOrigins(node: ASTNode): boolean {
  return node.op === 'id' && node.args === 'origins';
}

/**
 * Rejects what would never match: `any` or `aimedByText` on another value than `origins`, and a comparison with a value that an
 * origin never has.
 *
 * @throws {@link ConditionError} with the position and a fix.
 */
export function refuseUnknownOrigins(root: ASTNode, text: string): void {
  for (const node of nodesWithOrigins(root)) {
    const problem = problemOf(node);
    if (problem) throw new ConditionError(problem, { text, offset: node.start });
  }
}

/** Yields the nodes in which `origins` is the variable of the check, not of a comprehension. */
function* nodesWithOrigins(node: ASTNode): Generator<ASTNode> {
  yield node;
  const method = isComprehension(node) ? methodOf(node) : undefined;
  const isHidden = method?.given[0] !== undefined && isOrigins(method.given[0]);
  for (const child of isHidden ? [method.receiver] : childrenOf(node.args)) yield* nodesWithOrigins(child);
}

function problemOf(node: ASTNode): string | undefined {
  switch (node.op) {
    case 'rcall': {
      const [name, receiver, [from, as]] = node.args;
      if (name === 'aimedByText' && !isOrigins(receiver))
        return 'aimedByText() is only available on origins, as in origins.aimedByText()';
      if (name !== 'any') return undefined;
      if (!isOrigins(receiver))
        return 'any() is only available on origins, as in origins.any("tool", "text")';
      return problemOfValue('from', from) ?? problemOfValue('as', as);
    }
    case '==':
    case '!=':
    case 'in': {
      const [left, right] = node.args;
      const values = node.op === 'in' && right.op === 'list' ? right.args : [right];
      const ofLeft = values.map((value) => problemOfValue(knownFieldOf(left), value));
      return ofLeft.find((problem) => problem) ?? problemOfValue(knownFieldOf(right), left);
    }
    default:
      return undefined;
  }
}

/** Returns the name of a field of an origin that has a fixed set of values; undefined for any other node. */
function knownFieldOf(node: ASTNode): KnownField | undefined {
  if (node.op !== '.' || !isOriginField(node)) return undefined;
  const [, name] = node.args;
  return name === 'from' || name === 'as' ? name : undefined;
}

function problemOfValue(field: KnownField | undefined, value: ASTNode | undefined): string | undefined {
  if (field === undefined || value?.op !== 'value' || typeof value.args !== 'string') return undefined;
  const known: readonly string[] = knownValues[field];
  if (known.includes(value.args)) return undefined;
  const list = known.map((one) => JSON.stringify(one)).join(', ');
  return `"${field}" of an origin is never ${JSON.stringify(value.args)}; use one of ${list}`;
}

const shell: ReadonlySet<string> = new Set(argumentWords.shell);
const notTargets: ReadonlySet<string> = new Set([...argumentWords.content, ...argumentWords.place]);
const places: ReadonlySet<string> = new Set(argumentWords.place);
const part = /\.(host|segment|query)$/;

/** Returns the words of the last name of a path, in any style, in lower case. */
function wordsOf(path: string): string[] {
  return path
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/**
 * `true` if the argument with this path determines the target of an action, such as a recipient, an amount or an id.
 */
function isTarget(path: string): boolean {
  const words = wordsOf(path);
  const last = words.at(-1) ?? '';
  if ((last === 'name' || last === 'number') && places.has(words.at(-2) ?? '')) return false;
  return !notTargets.has(last);
}

function isShell(path: string): boolean {
  return shell.has(wordsOf(path).at(-1) ?? '');
}

/**
 * `true` if an action is aimed by text that a tool returned, or by a source that is no longer known, and nothing of it
 * came from the user or the system prompt. A command counts as aimed if it was copied from such text, or names a host
 * from it.
 */
function isAimedByText(
  origins: ReadonlyMap<string, Readonly<ArgumentOrigin> | { from: string; as: string }>,
): boolean {
  let isAimed = false;
  for (const [path, { from, as }] of origins) {
    const named = part.exec(path)?.[1];
    if (named !== undefined) {
      if (named === 'host' && from === 'tool' && isShell(path.slice(0, -'.host'.length))) isAimed = true;
      continue;
    }
    if (from === 'user' || from === 'system') return false;
    const isText = from === 'tool' && as === 'text';
    if (isText && isShell(path)) isAimed = true;
    if ((isText || from === 'unknown') && isTarget(path)) isAimed = true;
  }
  return isAimed;
}
